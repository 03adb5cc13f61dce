"""Part 7: the output and two gradients, and the output in half precision."""

import pytest
import torch
import torch.nn.functional as F
from rms_norm import rms_norm


@pytest.mark.parametrize("rows, columns", [(1, 1), (3, 7), (20, 1000), (9, 128)])
def test_it_and_its_gradients_are_pytorch_s(device, before_nan, rows, columns):
    leaves = [before_nan(torch.randn(shape, device=device)).requires_grad_() for shape in ((rows, columns), columns)]
    y, expected = rms_norm(*leaves), F.rms_norm(leaves[0], (columns,), leaves[1], 1e-6)
    torch.testing.assert_close(y, expected, rtol=1e-4, atol=1e-4)
    dy = before_nan(torch.randn_like(y))
    gradients = torch.autograd.grad(y, leaves, dy), torch.autograd.grad(expected, leaves, dy)
    for name, found, right in zip(("dx", "dweight"), *gradients, strict=True):
        torch.testing.assert_close(found, right, rtol=1e-3, atol=1e-3, msg=f"{name}: {{}}".format)


def test_half_precision_is_computed_in_float32(device):
    """The squares of these numbers are too large for float16."""
    x, weight = (torch.randn(shape, device=device).half() for shape in ((20, 1000), 1000))
    x = 200 * x
    found = rms_norm(x, weight)
    expected = F.rms_norm(x.float(), (1000,), weight.float(), 1e-6).half()
    torch.testing.assert_close(found, expected, rtol=1e-2, atol=1e-2)


def test_rows_of_small_numbers(device):
    """Their mean square is about as large as eps, or zero."""
    x, weight = torch.randn(4, 1000, device=device) * 1e-3, torch.randn(1000, device=device)
    x[0] = 0
    torch.testing.assert_close(rms_norm(x, weight), F.rms_norm(x, (1000,), weight, 1e-6), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("columns", [1024, 4096, 8192])
def test_benchmark(gpu, faster, columns):
    x, weight = torch.randn(2**26 // columns, columns, device="cuda").bfloat16(), torch.randn(columns, device="cuda").bfloat16()
    faster(lambda: rms_norm(x, weight), lambda: F.rms_norm(x, (columns,), weight, 1e-6))
