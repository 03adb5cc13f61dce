"""kernels.layer_norm_linear against float64, forward and backward."""

import pytest
import torch
import torch.nn.functional as F

from kernels import layer_norm_linear
from kernels.layer_norm_linear import layer_norm_linear_reference
from tests.kernels.numerics import DTYPES, assert_within, random
from tests.needs import needs

SHAPES = [((1, 1), 1), ((5, 33), 20), ((70, 64), 70), ((2, 3, 40), 16), ((24,), 9), ((4, 300), 8)]
NAMES = ("x", "ln_weight", "ln_bias", "weight", "bias")


def arguments(shape: tuple[int, ...], n: int, dtype: torch.dtype, device: str) -> list[torch.Tensor]:
    k = shape[-1]
    made = [random(*shape, dtype=dtype, device=device), random(k, dtype=dtype, device=device, seed=1) + 1]
    made += [random(k, dtype=dtype, device=device, seed=2), random(n, k, dtype=dtype, device=device, seed=3)]
    return [*made, random(n, dtype=dtype, device=device, seed=4)]


def exact(x, ln_weight, ln_bias, weight, bias, eps=1e-5) -> torch.Tensor:
    x, ln_weight, ln_bias, weight, bias = (None if t is None else t.double() for t in (x, ln_weight, ln_bias, weight, bias))
    return F.linear(F.layer_norm(x, x.shape[-1:], ln_weight, ln_bias, eps), weight, bias)


def bound_of(y: torch.Tensor, x, ln_weight, ln_bias, weight, bias, dtype, eps=1e-5) -> torch.Tensor:
    """The normalized rows are kept in `dtype`, and so is the result; the rest is float32."""
    x, weight = x.double(), weight.double()
    normal = F.layer_norm(x, x.shape[-1:], eps=eps)
    gain = 1 if ln_weight is None else ln_weight.double().abs()
    n = normal.abs() * gain + (0 if ln_bias is None else ln_bias.double().abs())
    size = n @ weight.abs().mT + (0 if bias is None else bias.double().abs())
    step = torch.finfo(dtype).eps
    return (0.6 * step + 1e-6 * (4 + x.shape[-1] ** 0.5)) * size + 0.6 * step * y.abs() + 1e-6


def assert_right(y: torch.Tensor, given: list, eps: float = 1e-5) -> None:
    expected = exact(*given, eps)
    assert_within(y, expected, bound_of(expected, *given, y.dtype, eps))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("shape", "n"), SHAPES)
def test_any_shape(shape, n, dtype, device):
    given = arguments(shape, n, dtype, device)
    y = layer_norm_linear(*given)
    assert (y.shape, y.dtype, y.device) == ((*shape[:-1], n), dtype, given[0].device)
    assert_right(y, given)


@pytest.mark.parametrize("missing", ["ln_weight", "ln_bias", "bias"])
def test_without_a_parameter(missing, device):
    given = arguments((6, 20), 10, torch.float32, device)
    given[NAMES.index(missing)] = None
    assert_right(layer_norm_linear(*given), given)
    assert_right(layer_norm_linear(*given, eps=0.5), given, 0.5)


def test_views_and_nothing_at_all(device):
    given = arguments((12, 40), 10, torch.float16, device)
    for i, view in ((0, given[0][::2, 4:]), (3, given[3][:, 4:])):
        given[i] = view
    given[1], given[2] = given[1][4:], given[2][4:]
    assert_right(layer_norm_linear(*given), given)
    transposed = [given[0].t().contiguous().t(), *given[1:3], given[3].t().contiguous().t(), given[4]]
    assert_right(layer_norm_linear(*transposed), transposed)
    assert layer_norm_linear(given[0][:0], *given[1:]).shape == (0, 10)
    assert layer_norm_linear(*given[:3], given[3][:0], given[4][:0]).shape == (6, 0)


@pytest.mark.parametrize("shape", [(3, 0), (2, 0, 4), (0, 0)], ids=str)
def test_rows_of_nothing_and_no_rows_in_a_graph(shape, device):
    """The product of nothing is the bias, in a call without a graph and in one with."""
    bias = random(5, device=device)
    for requires_grad in (False, True):
        x = torch.zeros(shape, device=device, requires_grad=requires_grad)
        y = layer_norm_linear(x, None, None, torch.zeros(5, shape[-1], device=device), bias)
        assert torch.equal(y, bias.expand(*shape[:-1], 5))
        assert y.requires_grad == requires_grad


def test_a_mean_far_from_zero_costs_what_its_rounding_costs(device):
    """A mean of 4096 in float32 is right to some 2**-11. The product of the rows as they come would be large and cancel."""
    x = (random(8, 256, device=device) * 64).round() / 64
    weight = random(16, 256, device=device, seed=3)
    shifted = x + 4096  # exact
    found = layer_norm_linear(shifted, None, None, weight).double()
    expected = exact(x, None, None, weight, None)
    size = F.layer_norm(x.double(), (256,)).abs() @ weight.double().abs().mT
    shift = x.double().var(-1, correction=0, keepdim=True).rsqrt() * weight.double().sum(-1).abs()
    assert ((found - expected).abs() <= 3 * 2.0**-12 * shift + 2.0**-20 * size).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients(dtype, create_graph, device):
    given = arguments((2, 9, 24), 12, dtype, device)
    dy = random(2, 9, 12, dtype=dtype, device=device, seed=5)
    leaves = [t.detach().requires_grad_() for t in given]
    found = torch.autograd.grad(layer_norm_linear(*leaves), leaves, dy, create_graph=create_graph)
    leaves64 = [t.detach().double().requires_grad_() for t in given]
    expected = torch.autograd.grad(exact(*leaves64), leaves64, dy.double())
    for name, ours, wanted, leaf in zip(NAMES, found, expected, leaves, strict=True):
        assert (ours.shape, ours.dtype) == (leaf.shape, leaf.dtype), name
        error = (ours.detach().double() - wanted).norm() / wanted.norm()
        assert error < 2 * torch.finfo(dtype).eps + 1e-6, f"{name}: {error:.2e}"


def test_a_second_derivative_is_right(device):
    given = arguments((3, 5), 4, torch.float32, device)

    def penalty(function, leaves):
        leaves = [t.detach().requires_grad_() for t in leaves]
        first = torch.autograd.grad((function(*leaves) ** 2).sum(), leaves, create_graph=True)
        return torch.autograd.grad(sum((g**2).sum() for g in first), leaves)

    pairs = zip(penalty(layer_norm_linear, given), penalty(exact, [t.double() for t in given]), strict=True)
    for found, expected in pairs:
        torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max()))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_errors_are_no_larger_than_pytorch_s(dtype, device):
    given = arguments((64, 256), 48, dtype, device)
    expected = exact(*given)
    theirs = F.linear(F.layer_norm(given[0], (256,), given[1], given[2]), given[3], given[4])
    error, allowed = (layer_norm_linear(*given).double() - expected).norm(), (theirs.double() - expected).norm()
    assert error <= 1.1 * allowed + 1e-7 * expected.norm(), f"{error:.3e} against {allowed:.3e}"


def test_the_reference_agrees_with_pytorch(device):
    given = arguments((5, 30), 7, torch.float32, device)
    torch.testing.assert_close(layer_norm_linear_reference(*given).double(), exact(*given), rtol=1e-4, atol=1e-4)
    bare = [given[0], None, None, given[3]]
    torch.testing.assert_close(layer_norm_linear_reference(*bare).double(), exact(*bare, None), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("wrong", [torch.int32, torch.float64], ids=str)
@pytest.mark.parametrize("which", NAMES)
def test_other_dtypes_are_refused(which, wrong, device):
    given = arguments((3, 4), 2, torch.float32, device)
    given[NAMES.index(which)] = given[NAMES.index(which)].to(wrong)
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^{which}: expected dtype float32, float16 or bfloat16, got {name}$"):
        layer_norm_linear(*given)


def test_bad_arguments_are_refused(device):
    x, ln_weight, ln_bias, weight, bias = arguments((3, 4), 2, torch.float32, device)
    with pytest.raises(ValueError, match=r"^x: expected at least one dimension, got shape \(\)$"):
        layer_norm_linear(x[0, 0], None, None, weight)
    with pytest.raises(ValueError, match=r"^ln_weight: expected shape \(4,\), the last dimension of x, got \(3,\)$"):
        layer_norm_linear(x, ln_weight[:3], None, weight)
    with pytest.raises(ValueError, match=r"^ln_bias: expected shape \(4,\), the last dimension of x, got \(1,\)$"):
        layer_norm_linear(x, ln_weight, ln_bias[:1], weight)
    for shape in ((2, 3), (4,), (1, 2, 4)):
        with pytest.raises(ValueError, match=r"^weight: expected two dimensions and 4 columns, .* of x, got shape"):
            layer_norm_linear(x, None, None, torch.ones(shape, device=device))
    with pytest.raises(TypeError, match=r"^weight: expected dtype float32, the dtype of x, got float16$"):
        layer_norm_linear(x, None, None, weight.half())
    with pytest.raises(TypeError, match=r"^weight: expected a torch.Tensor, got NoneType$"):
        layer_norm_linear(x, None, None, None)
    with pytest.raises(ValueError, match=r"^bias: expected shape \(2,\), one number for each row of weight, got \(4,\)$"):
        layer_norm_linear(x, None, None, weight, ln_bias)
    with pytest.raises(TypeError, match=r"^eps: expected a number, got str$"):
        layer_norm_linear(x, None, None, weight, bias, "1")


def test_what_an_earlier_call_found_out_serves_only_calls_like_it(device):
    """Launches are kept by shapes, strides and more. Each call here differs from an earlier one in one of these."""
    given = arguments((16, 40), 24, torch.float16, device)
    for _ in range(2):
        assert_right(layer_norm_linear(*given), given)
    twins = [torch.complex(t.float(), -t.float()).conj().imag.half() for t in given]  # the same numbers
    lazy = [torch.complex(t.float(), t.float()).conj().imag for t in given]  # whose negation is put off
    assert all(t.is_neg() for t in lazy)
    assert_right(layer_norm_linear(*twins), given)
    floats = [t.float() for t in given]
    assert_right(layer_norm_linear(*floats), floats)
    for i in range(len(given)):
        negated = [*floats[:i], lazy[i], *floats[i + 1 :]]
        assert_right(layer_norm_linear(*negated), [*floats[:i], -floats[i], *floats[i + 1 :]])
        apart = given[i].repeat_interleave(2, -1)[..., ::2]
        assert_right(layer_norm_linear(*given[:i], apart, *given[i + 1 :]), given)
        shifted = torch.cat((given[i].flatten()[:1], given[i].flatten()))[1:].view(given[i].shape)  # not at 16 bytes
        assert_right(layer_norm_linear(*given[:i], shifted, *given[i + 1 :]), given)
        with pytest.raises(TypeError):
            layer_norm_linear(*given[:i], given[i].double(), *given[i + 1 :])
    with pytest.raises(TypeError, match=r"^eps: expected a number, got bool$"):
        layer_norm_linear(*given, True)
    assert_right(layer_norm_linear(*given, 1), given, 1)


@needs("cuda")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("m", "k", "n"), [(8192, 4096, 4096), (512, 1024, 4096), (2000, 1000, 3000)])
def test_on_the_gpu_at_full_size(m, k, n, dtype, device):
    given = arguments((m, k), n, dtype, device)
    assert_right(layer_norm_linear(*given), given)
