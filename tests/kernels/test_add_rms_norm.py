"""kernels.add_rms_norm against float64, and against its two operations one after the other."""

from math import inf, nan

import pytest
import torch
import torch.nn.functional as F

from kernels.norm.add_rms_norm import ADD_RMS_NORM_ROW, add_rms_norm, add_rms_norm_reference
from kernels.norm.add_rows import add_rms_norm_tile, add_rms_norm_tile_backward
from tests.kernels.numerics import DTYPES, VIEWS, assert_guard_untouched, guarded, poisoned, random
from tests.needs import needs

EPS = 1e-5
SHAPES = [(1, 1), (3, 2), (5, 33), (70, 64), (7, 1000), (2, 2049), (2, 3, 40), (5,), (2, ADD_RMS_NORM_ROW + 1)]


def inputs(shape, device, dtype=torch.float32, weight=True):
    x, residual = (random(*shape, dtype=dtype, device=device, seed=seed).requires_grad_() for seed in (1, 2))
    return x, residual, random(shape[-1], dtype=dtype, device=device, seed=3).requires_grad_() if weight else None


def in_float64(given, dy=None, dsum=None, eps=EPS):
    """Both results in float64 for the sum as it was rounded, and the gradients for incoming ones."""
    x, residual, weight = given
    total = (x + residual).detach().double().requires_grad_()
    weight = None if weight is None else weight.detach().double().requires_grad_()
    y = add_rms_norm_reference(total, torch.zeros_like(total), weight, eps)[0]
    if dy is None:
        return y, total
    leaves = [total] if weight is None else [total, weight]
    dx, *dweight = torch.autograd.grad(y, leaves, dy.double())
    return y, total, dx + dsum.double(), *dweight


def assert_close(found, exact, dtype):
    assert found.dtype == dtype and found.shape == exact.shape
    scale = exact.abs().max().item() if exact.numel() else 0.0
    torch.testing.assert_close(found.double(), exact, rtol=1e-5 + torch.finfo(dtype).eps, atol=2e-6 * scale)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("weight", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_results_and_gradients(shape, weight, dtype, device):
    given = inputs(shape, device, dtype, weight)
    y, total = add_rms_norm(*given, EPS)
    assert torch.equal(total, given[0] + given[1]) and y.is_contiguous() and total.is_contiguous()
    dy, dsum = (random(*shape, dtype=dtype, device=device, seed=seed) for seed in (4, 5))
    exact_y, _, exact_dx, *exact_dweight = in_float64(given, dy, dsum)
    assert_close(y, exact_y, dtype)
    leaves = [tensor for tensor in given if tensor is not None]
    dx, dresidual, *dweight = torch.autograd.grad((y, total), leaves, (dy, dsum))
    assert torch.equal(dx, dresidual)
    # Where rows are too long for one kernel, two gradients are rounded and then added.
    step = torch.finfo(dtype).eps * (1 if shape[-1] <= ADD_RMS_NORM_ROW else 2)
    torch.testing.assert_close(dx.double(), exact_dx, rtol=1e-5 + step, atol=(4e-6 + step / 8) * exact_dx.abs().max().item())
    for one, other in zip(dweight, exact_dweight, strict=True):
        assert_close(one, other, dtype)


def test_as_an_addition_and_rms_norm(device):
    x, residual, weight = inputs((9, 100), device, torch.bfloat16)
    y, total = add_rms_norm(x, residual, weight, EPS)
    expected = F.rms_norm(x + residual, x.shape[-1:], weight, EPS)
    torch.testing.assert_close(y, expected, rtol=torch.finfo(torch.bfloat16).eps, atol=1e-6)
    torch.testing.assert_close(add_rms_norm(x, residual)[0].float(), F.rms_norm(total.float(), (100,)), rtol=0.01, atol=1e-3)


@pytest.mark.parametrize("name", VIEWS)
def test_views(name, device):
    x, residual, weight = inputs((4, 16, 24), device)
    for one, other in ((VIEWS[name](x), VIEWS[name](residual)), (poisoned(x.detach()), residual)):
        row = weight[: one.shape[-1]] if one.ndim > 1 else random(one.shape[-1], device=device)
        y, total = add_rms_norm(one, other, row, EPS)
        exact_y, exact_total = in_float64((one, other, row))
        assert_close(y, exact_y.detach(), torch.float32)
        assert torch.equal(total.double(), exact_total.detach())


@pytest.mark.parametrize("which", ["y", "total", "neither"])
def test_a_result_that_goes_nowhere(which, device):
    given = inputs((5, 40), device)
    y, total = add_rms_norm(*given, EPS)
    if which == "total":
        dx, dresidual, dweight = torch.autograd.grad(total.sum(), given, allow_unused=True)
        assert torch.equal(dx, torch.ones_like(dx)) and torch.equal(dx, dresidual) and dweight is None
    elif which == "y":
        dx, _, dweight = torch.autograd.grad(y.sum(), given)
        ones, zeros = torch.ones_like(y), torch.zeros_like(y)
        _, _, exact_dx, exact_dweight = in_float64(given, ones, zeros)
        torch.testing.assert_close(dx.double(), exact_dx, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(dweight.double(), exact_dweight, rtol=1e-5, atol=1e-6)
    else:
        with torch.no_grad():
            assert not any(result.requires_grad for result in add_rms_norm(*given))


def test_a_second_derivative(device):
    given = inputs((3, 8), device)

    def penalty(function, x, residual, weight):
        y, total = function(x, residual, weight, EPS)
        grads = torch.autograd.grad((y.sin() * total).sum(), (x, residual, weight), create_graph=True)
        return torch.autograd.grad(sum((grad**2).sum() for grad in grads), (x, residual, weight))

    exact = penalty(add_rms_norm_reference, *(tensor.detach().double().requires_grad_() for tensor in given))
    for one, other in zip(penalty(add_rms_norm, *given), exact, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0,)], ids=str)
def test_nothing(shape, device):
    given = inputs(shape, device)
    y, total = add_rms_norm(*given)
    assert y.shape == total.shape == shape
    for gradient, tensor in zip(torch.autograd.grad((y.sum(), total.sum()), given), given, strict=True):
        assert gradient.shape == tensor.shape and not gradient.any()


def test_nan_and_infinity(device):
    x, residual, weight = (tensor.detach() for tensor in inputs((4, 50), device))
    x[0, 3], x[1, 7], x[2] = nan, inf, 0.0
    residual[2] = 0.0
    y, total = add_rms_norm(x, residual, weight, EPS)
    # On a CPU, for a row with an infinity PyTorch's kernel on a GPU gives NaN everywhere, and its formula zeros.
    expected = F.rms_norm((x + residual).cpu(), x.shape[-1:], weight.cpu(), EPS)
    torch.testing.assert_close(y.cpu(), expected, equal_nan=True)
    assert torch.equal(total.isnan(), (x + residual).isnan()) and not y[2].any()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("columns", [33, 64, 1000])
def test_nothing_is_written_outside(columns, dtype, device):
    x, residual, weight = (tensor.detach() for tensor in inputs((5, columns), device, dtype))
    results = [guarded((5, columns), dtype, device, gap=0) for _ in range(3)]
    (y, y_buffer), (total, total_buffer), (dx, dx_buffer) = results
    rstd, rstd_buffer = guarded((5,), torch.float32, device)
    add_rms_norm_tile(x, residual, weight, y, total, rstd, EPS)
    dweight = add_rms_norm_tile_backward(total, weight, x, residual, rstd, dx, dtype)
    for view, buffer in ((y, y_buffer), (total, total_buffer), (dx, dx_buffer), (rstd, rstd_buffer)):
        assert not view.isnan().any()
        assert_guard_untouched(view, buffer)
    assert dweight.shape == (columns,) and dweight.dtype == dtype


def test_other_arguments_are_refused(device):
    x, residual, weight = inputs((3, 8), device)
    with pytest.raises(TypeError, match=r"^residual: expected dtype float32, the dtype of x, got bfloat16$"):
        add_rms_norm(x, residual.bfloat16(), weight)
    with pytest.raises(ValueError, match=r"^residual: expected shape \(3, 8\), the shape of x, got \(8,\)$"):
        add_rms_norm(x, residual[0], weight)
    with pytest.raises(TypeError, match=r"^residual: expected a torch.Tensor, got NoneType$"):
        add_rms_norm(x, None, weight)
    with pytest.raises(ValueError, match=r"^weight: expected shape \(8,\), the last dimension of x, got \(7,\)$"):
        add_rms_norm(x, residual, weight[1:])
    with pytest.raises(TypeError, match=r"^x: expected dtype float32, float16 or bfloat16, got float64$"):
        add_rms_norm(x.double(), residual, weight)
    with pytest.raises(ValueError, match=r"^x: expected at least one dimension, got shape \(\)$"):
        add_rms_norm(x[0, 0], residual[0, 0])
    with pytest.raises(TypeError, match=r"^eps: expected a number, got str$"):
        add_rms_norm(x, residual, weight, "0")


@needs("cuda")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("columns", [781, 1024, 4096, 5001, 8192])
def test_on_the_gpu_at_full_width(columns, dtype, device):
    test_results_and_gradients((3000, columns), True, dtype, device)
