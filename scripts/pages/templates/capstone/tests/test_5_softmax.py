"""Part 5: agreement with PyTorch, a gradient check, and a benchmark, in one command."""

import pytest
import torch
from softmax import softmax
from torch.autograd import gradcheck


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (5, 1000), (2, 3, 128), (2, 3000)])
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-6), (torch.bfloat16, 1e-2)])
def test_allclose(device, shape, dtype, tolerance):
    x = (10 * torch.randn(shape, device=device)).to(dtype)
    torch.testing.assert_close(softmax(x), torch.softmax(x, dim=-1), rtol=tolerance, atol=tolerance)


def test_a_row_need_not_lie_together(device):
    """The columns of a matrix that is read as if it were turned: numbers of a row lie apart."""
    x = torch.randn(300, 4, device=device).t()
    torch.testing.assert_close(softmax(x), torch.softmax(x, dim=-1), rtol=1e-6, atol=1e-6)


def test_large_numbers_do_not_overflow(device):
    x = torch.tensor([[1000.0, 1001.0, 1002.0]], device=device)
    torch.testing.assert_close(softmax(x), torch.softmax(x, dim=-1))


def test_an_empty_lane_is_no_maximum(device):
    """Every number here is far below zero, and so is the largest, which a filler must not pass."""
    x = torch.tensor([[-1e6, -1e6 + 1, -1e6 + 2]], device=device)
    torch.testing.assert_close(softmax(x), torch.softmax(x, dim=-1))


@pytest.mark.parametrize("columns", [300, 3000])
def test_the_gradient_is_pytorch_s(device, columns):
    x = torch.randn(4, columns, device=device, requires_grad=True)
    dy = torch.randn(columns, 4, device=device).t()  # which is not contiguous
    (found,) = torch.autograd.grad(softmax(x), x, dy)
    (expected,) = torch.autograd.grad(torch.softmax(x, dim=-1), x, dy)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_the_gradient_of_half_precision_is_computed_in_float32(device, before_nan):
    """These gradients lie far from zero, and float16 would lose what is left of dy - sum(dy * y)."""
    x = torch.randn(4, 300, device=device).half().requires_grad_()
    y, dy = softmax(x), before_nan((1000 + torch.randn(4, 300, device=device)).half())
    (found,) = torch.autograd.grad(y, x, dy)
    kept, given = y.detach().double(), dy.double()
    expected = (kept * (given - (given * kept).sum(dim=-1, keepdim=True))).half()
    torch.testing.assert_close(found, expected, rtol=1e-2, atol=1e-4)


@pytest.mark.filterwarnings("ignore:Input #0 requires gradient")
def test_gradcheck(device):
    """The kernel knows float32 alone, so the steps are large and the tolerance is wide."""
    x = torch.randn(3, 7, device=device, requires_grad=True)
    assert gradcheck(softmax, x, eps=1e-2, atol=1e-3, rtol=1e-2)


@pytest.mark.parametrize("columns", [1024, 4096, 8192])
def test_benchmark(gpu, faster, columns):
    x = torch.randn(2**26 // columns, columns, device="cuda").bfloat16()
    faster(lambda: softmax(x), lambda: torch.softmax(x, dim=-1))
