"""Part 4: both products agree with float64, and on a GPU the tiles pay."""

import pytest
import torch
from matmul_naive import naive_product
from matmul_tiled import tiled_product


@pytest.mark.parametrize("product", [naive_product, tiled_product])
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (16, 16, 16), (64, 64, 16), (65, 70, 33), (30, 130, 100)])
def test_a_product_of_any_shape(cpp, before_nan, product, m, n, k):
    a, b = before_nan(torch.randn(m, k, device=cpp)), before_nan(torch.randn(k, n, device=cpp))
    torch.testing.assert_close(product(a, b).double(), a.double() @ b.double(), rtol=1e-4, atol=1e-4)


def test_the_tiled_product_is_faster(cpp, gpu, faster):
    if cpp != "cuda":
        pytest.skip("needs: nvcc beside the GPU")
    a, b = torch.randn(2, 2048, 2048, device="cuda")
    faster(lambda: tiled_product(a, b), lambda: naive_product(a, b), 0.5)
