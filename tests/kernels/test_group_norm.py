"""kernels.group_norm against float64 and PyTorch: groups on chip and longer ones, odd places, few and many channels."""

from math import inf, nan

import pytest
import torch
import torch.nn.functional as F

from kernels.norm.group_norm import group_norm, group_norm_reference
from kernels.norm.group_rows import group_norm_backward_launch, group_norm_launch, group_tile_sizes
from tests.kernels.numerics import DTYPES, assert_guard_untouched, guarded, poisoned, random
from tests.needs import needs

# Shape and groups: one place, one channel a group, one group, odd places, groups longer than a tile either way.
CASES = [
    ((1, 1), 1), ((3, 12), 4), ((2, 6, 5), 6), ((2, 6, 7, 5), 3), ((1, 8, 3, 3, 3), 1), ((2, 4, 4099), 2), ((2, 4, 8200), 2),
    ((1, 3000, 3), 1), ((2, 66, 130), 2), ((2, 40, 16, 16), 1),
]  # fmt: skip


def inputs(shape, device, dtype=torch.float32, affine=True):
    x = random(*shape, dtype=dtype, device=device, seed=1).requires_grad_()
    rows = [random(shape[1], dtype=dtype, device=device, seed=seed).requires_grad_() for seed in (2, 3)]
    return x, *(rows if affine else (None, None))


def exact(given, groups, dy, eps=1e-5):
    """The result in float64, and the gradients for an incoming one."""
    leaves = [None if t is None else t.detach().double().requires_grad_() for t in given]
    x, weight, bias = leaves
    y = F.group_norm(x, groups, weight, bias, eps)
    return y, torch.autograd.grad(y, [t for t in leaves if t is not None], dy.double())


def assert_close(found, expected, dtype):
    assert found.dtype == dtype and found.shape == expected.shape
    step = torch.finfo(dtype).eps
    scale = expected.abs().max().item() if expected.numel() else 0.0
    torch.testing.assert_close(found.double(), expected, rtol=1e-5 + step, atol=(4e-6 + step / 8) * scale)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(("shape", "groups"), CASES, ids=str)
def test_results_and_gradients(shape, groups, affine, dtype, device):
    given = inputs(shape, device, dtype, affine)
    dy = random(*shape, dtype=dtype, device=device, seed=4)
    y = group_norm(given[0], groups, *given[1:])
    if shape == (1, 1):  # one number is its own mean, and in float64 the rest is a matter of rounding
        assert torch.equal(y, torch.zeros_like(y) if given[2] is None else given[2].expand_as(y))
        return
    expected, gradients = exact(given, groups, dy)
    assert y.is_contiguous()
    assert_close(y, expected, dtype)
    found = torch.autograd.grad(y, [t for t in given if t is not None], dy)
    for one, other in zip(found, gradients, strict=True):
        assert_close(one, other, dtype)


@pytest.mark.parametrize(("shape", "groups"), CASES, ids=str)
def test_a_far_mean_costs_no_digits(shape, groups, device):
    x = random(*shape, device=device) + 1000
    expected = group_norm_reference(x.double(), groups)
    if expected.abs().max() > 0.1:  # one number is its own mean
        torch.testing.assert_close(group_norm(x, groups).double(), expected, rtol=0, atol=2e-3)


def test_parameters_of_another_dtype_and_one_of_them(device):
    x, weight, bias = inputs((2, 6, 9), device)
    half = x.detach().half().requires_grad_()
    y = group_norm(half, 2, weight)
    assert y.dtype == torch.float16
    dx, dweight = torch.autograd.grad(y.float().square().sum(), (half, weight))
    assert (dx.dtype, dweight.dtype) == (torch.float16, torch.float32)
    only_bias = torch.autograd.grad(group_norm(x.detach(), 2, None, bias).sum(), bias)[0]
    torch.testing.assert_close(only_bias, torch.full_like(bias, 2 * 9))


def test_views_and_what_lies_beside_them(device):
    x = random(4, 12, 5, 6, device=device)
    wide = random(8, 12, 5, 6, device=device)
    for view in (x.to(memory_format=torch.channels_last), wide[::2], x.mT, torch.conj(x), poisoned(x)):
        torch.testing.assert_close(group_norm(view, 3), F.group_norm(view.contiguous(), 3))
    row = random(24, device=device)[::2]
    torch.testing.assert_close(group_norm(x, 3, row, row), F.group_norm(x, 3, row, row))


def test_a_second_derivative(device):
    given = inputs((2, 4, 3), device)

    def penalty(function, x, weight, bias):
        y = function(x, 2, weight, bias)
        grads = torch.autograd.grad((y.sin() * y).sum(), (x, weight, bias), create_graph=True)
        return torch.autograd.grad(sum((grad**2).sum() for grad in grads), (x, weight, bias))

    expected = penalty(group_norm_reference, *(tensor.detach().double().requires_grad_() for tensor in given))
    for one, other in zip(penalty(group_norm, *given), expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 4, 0)], ids=str)
def test_nothing(shape, device):
    given = inputs(shape, device)
    y = group_norm(given[0], 2, *given[1:])
    assert y.shape == shape
    for gradient, tensor in zip(torch.autograd.grad(y.sum(), given), given, strict=True):
        assert gradient.shape == tensor.shape and not gradient.any()


def test_nan_infinity_and_equal_numbers_stay_in_their_group(device):
    x = random(3, 4, 50, device=device)
    x[0, 0, 3], x[1, 3, 7], x[2, :2] = nan, inf, 5.0
    y = group_norm(x, 2)
    assert y[0, :2].isnan().all() and y[1, 2:].isnan().all()
    # On a GPU a mean of equal numbers may be off by one rounding, which is divided by the root of eps.
    assert y[2, :2].abs().max() <= 5.0 * torch.finfo(torch.float32).eps * 1e-5**-0.5
    for sample, channels in ((0, slice(2, 4)), (1, slice(0, 2)), (2, slice(2, 4))):
        torch.testing.assert_close(y[sample, channels], F.group_norm(x[sample : sample + 1, channels], 1)[0])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("shape", "groups"), [((3, 6, 7), 3), ((2, 4, 8200), 2), ((1, 3000, 3), 1)], ids=str)
def test_nothing_is_written_outside(shape, groups, dtype, device):
    x = random(*shape, dtype=dtype, device=device)
    row = random(shape[1], dtype=dtype, device=device)
    (y, y_buffer), (dx, dx_buffer) = (guarded(shape, dtype, device, gap=0) for _ in range(2))
    (mean, mean_buffer), (rstd, rstd_buffer) = (guarded((shape[0], groups), torch.float32, device, gap=0) for _ in range(2))
    group_norm_launch(x, row, row, y, mean, rstd, groups)
    parts = group_norm_backward_launch(x, row, x, mean, rstd, dx, groups)
    for view, buffer in ((y, y_buffer), (dx, dx_buffer), (mean, mean_buffer), (rstd, rstd_buffer)):
        assert not view.isnan().any()
        assert_guard_untouched(view, buffer)
    assert parts.shape == (2, *shape[:2])


def test_tiles_cover_a_group_and_are_no_longer_than_they_may():
    for channels in (1, 3, 16, 200, 5000):
        for size in (1, 7, 49, 4096, 100_000):
            block_c, block_s, whole = group_tile_sizes(channels, size)
            assert block_c * block_s <= (8192 if whole else 4096)
            assert not whole or (block_c >= channels and block_s >= size)
            assert block_s >= size or block_c == 1, "the sums of a channel are complete when its walk ends"


def test_other_arguments_are_refused(device):
    x, weight, bias = inputs((2, 6, 4), device)
    with pytest.raises(ValueError, match=r"^x: expected samples, channels and any places, got shape \(4,\)$"):
        group_norm(x[0, 0], 1)
    with pytest.raises(ValueError, match=r"^num_groups: expected a divisor of 6, the channels of x, got 4$"):
        group_norm(x, 4)
    with pytest.raises(ValueError, match=r"^num_groups: expected a number from 1 to 6, got 0$"):
        group_norm(x, 0)
    with pytest.raises(TypeError, match=r"^num_groups: expected an int, got float$"):
        group_norm(x, 2.0)
    with pytest.raises(ValueError, match=r"^weight: expected shape \(6,\), the channels of x, got \(5,\)$"):
        group_norm(x, 2, weight[1:])
    with pytest.raises(TypeError, match=r"^bias: expected dtype float32, float16 or bfloat16, got float64$"):
        group_norm(x, 2, weight, bias.double())
    with pytest.raises(TypeError, match=r"^eps: expected a number, got str$"):
        group_norm(x, 2, weight, bias, "0")


@needs("cuda")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("shape", "groups"), [((8, 320, 64, 64), 32), ((32, 256, 7, 7), 32), ((2, 512, 1001), 8)], ids=str)
def test_on_the_gpu_at_full_size(shape, groups, dtype, device):
    test_results_and_gradients(shape, groups, True, dtype, device)
