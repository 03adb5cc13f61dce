"""Part 6: the output and three gradients, and the output in half precision."""

import pytest
import torch
import torch.nn.functional as F
from layer_norm import layer_norm


@pytest.mark.parametrize("rows, columns", [(1, 2), (3, 7), (20, 1000), (9, 128)])
def test_it_and_its_gradients_are_pytorch_s(device, before_nan, rows, columns):
    leaves = [before_nan(torch.randn(shape, device=device)) for shape in ((rows, columns), columns, columns)]
    leaves[0] += 3  # away from zero, where the mean matters
    for leaf in leaves:
        leaf.requires_grad_()
    y, expected = layer_norm(*leaves), F.layer_norm(leaves[0], (columns,), *leaves[1:])
    torch.testing.assert_close(y, expected, rtol=1e-4, atol=1e-4)
    dy = before_nan(torch.randn_like(y))
    gradients = torch.autograd.grad(y, leaves, dy), torch.autograd.grad(expected, leaves, dy)
    for name, found, right in zip(("dx", "dweight", "dbias"), *gradients, strict=True):
        torch.testing.assert_close(found, right, rtol=1e-3, atol=1e-3, msg=f"{name}: {{}}".format)


def test_half_precision_is_computed_in_float32(device):
    """The sums and the squares of these numbers are too large for float16."""
    x, weight, bias = (torch.randn(shape, device=device).half() for shape in ((20, 1000), 1000, 1000))
    x = 200 * x + 100
    found = layer_norm(x, weight, bias)
    expected = F.layer_norm(x.float(), (1000,), weight.float(), bias.float()).half()
    torch.testing.assert_close(found, expected, rtol=1e-2, atol=1e-2)


def test_rows_far_from_zero_and_rows_of_nearly_equal_numbers(device):
    """A variance in one pass goes wrong in the first; without eps, or with eps outside of the root, the others do."""
    x = torch.randn(8, 1000, device=device)
    x[:4] += 1000
    x[4:6] *= 1e-3
    x[6:] = 3
    weight, bias = torch.randn(2, 1000, device=device)
    expected = F.layer_norm(x.double(), (1000,), weight.double(), bias.double()).float()
    torch.testing.assert_close(layer_norm(x, weight, bias), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("columns", [1024, 4096, 8192])
def test_benchmark(gpu, faster, columns):
    x, weight, bias = (torch.randn(shape, device="cuda").bfloat16() for shape in ((2**26 // columns, columns), columns, columns))
    faster(lambda: layer_norm(x, weight, bias), lambda: F.layer_norm(x, (columns,), weight, bias))
