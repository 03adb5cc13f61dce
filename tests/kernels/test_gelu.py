"""kernels.gelu against float64, with a bias and without, both kinds, forward and backward."""

import contextlib

import pytest
import torch
import triton
import triton.language as tl

from kernels import gelu
from kernels.activations.activation import activated, activated_with_slope
from kernels.activations.gelu import gelu_flat, gelu_flat_backward, gelu_reference
from kernels.activations.gelu_bias import gelu_bias_backward, gelu_bias_forward, gelu_bias_sums_kernel
from tests.interpreter import only_touching
from tests.kernels.accesses import unmasked
from tests.kernels.activation_numerics import KINDS as ACTIVATIONS
from tests.kernels.activation_numerics import rounded, slope_64, value_64
from tests.kernels.numerics import (
    DTYPES,
    FLOAT32_EPS,
    VIEWS,
    assert_guard_untouched,
    assert_within,
    guarded,
    poisoned,
    random,
    relative_step,
)
from tests.needs import need_free_memory, needs

NAN, INF = float("nan"), float("inf")
KINDS = ("none", "tanh")
LENGTHS = [1, 2, 1023, 1024, 1025, 2048, 2049, 4096, 5000]
# Each with one kind: on a GPU every one of them is a kernel to compile.
SHAPES = [((3, 1), "none"), ((1, 5), "tanh"), ((9, 512), "none"), ((17, 600), "tanh"), ((8, 1024), "none"), ((5, 2048), "tanh")]
SHAPES += [((3, 1500), "none"), ((70, 33), "tanh"), ((1, 1), "none")]


def within(reads: list, writes: list):
    return only_touching(reads, writes) if reads[0].device.type == "cpu" else contextlib.nullcontext()


def assert_gelu(y: torch.Tensor, x: torch.Tensor, kind: str, bias: torch.Tensor | None = None) -> None:
    """`y` is the GELU of `x` as exactly as float32 arithmetic and one rounding allow."""
    z = x.double() if bias is None else x.double() + bias.double()
    expected, error = value_64(z, kind)
    if bias is not None:
        error = error + slope_64(z, kind)[0].abs() * FLOAT32_EPS * z.abs()
    assert_within(y, expected, rounded(expected, error, y.dtype))


def gradient_64(x: torch.Tensor, dy: torch.Tensor, kind: str, bias: torch.Tensor | None = None) -> tuple:
    """dx in float64, and what it may be off by before it is rounded."""
    z = x.double() if bias is None else x.double() + bias.double()
    slope, error = slope_64(z, kind)
    if bias is not None:
        error = error + FLOAT32_EPS * z.abs()  # the second derivative is never above 1.2
    dy = dy.double()
    return dy * slope, dy.abs() * (error + FLOAT32_EPS * slope.abs())


def assert_gradient(x: torch.Tensor, dy: torch.Tensor, kind: str, create_graph: bool = False) -> None:
    x = x.detach().requires_grad_()
    (dx,) = torch.autograd.grad(gelu(x, approximate=kind), x, dy, create_graph=create_graph)
    expected, error = gradient_64(x.detach(), dy, kind)
    assert (dx.shape, dx.dtype, dx.device) == (x.shape, x.dtype, x.device)
    assert_within(dx.detach(), expected, rounded(expected, error, x.dtype))


def assert_bias_gradients(x, bias, dy, kind: str, create_graph: bool = False) -> None:
    x, bias = x.detach().requires_grad_(), bias.detach().requires_grad_()
    dx, dbias = torch.autograd.grad(gelu(x, bias, kind), (x, bias), dy, create_graph=create_graph)
    assert (dx.shape, dx.dtype, dbias.shape, dbias.dtype) == (x.shape, x.dtype, bias.shape, bias.dtype)
    expected, error = gradient_64(x.detach(), dy, kind, bias.detach())
    assert_within(dx.detach(), expected, rounded(expected, error, x.dtype))
    assert_bias_gradient(dbias.detach(), expected, error)


def assert_bias_gradient(dbias: torch.Tensor, dx: torch.Tensor, error: torch.Tensor) -> None:
    columns = dx.shape[-1]
    dx, error = dx.reshape(dx.numel() // max(columns, 1), columns), error.reshape(dx.numel() // max(columns, 1), columns)
    # Every addition errs by half a step of a sum that is never larger than the sum of the sizes.
    additions = FLOAT32_EPS * 32 * dx.abs().sum(0)
    assert_within(dbias, dx.sum(0), rounded(dx.sum(0), error.sum(0) + additions, dbias.dtype))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", LENGTHS)
def test_any_length(n, dtype, kind, device):
    x, dy = random(n, dtype=dtype, device=device, scale=3), random(n, dtype=dtype, device=device, seed=1)
    kept = x.clone()
    y = gelu(x, approximate=kind)
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
    assert_gelu(y, x, kind)
    assert_gradient(x, dy, kind)
    assert torch.equal(x, kept)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("shape", "kind"), SHAPES, ids=str)
def test_with_a_bias(shape, kind, dtype, device):
    x, bias = random(*shape, dtype=dtype, device=device, scale=2), random(shape[-1], dtype=dtype, device=device, seed=1)
    dy = random(*shape, dtype=dtype, device=device, seed=2)
    y = gelu(x, bias, kind)
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
    assert_gelu(y, x, kind, bias)
    assert_bias_gradients(x, bias, dy, kind)


def test_the_definition_unless_said(device):
    x, bias = random(500, device=device, scale=2), random(500, device=device, seed=1)
    assert torch.equal(gelu(x), gelu(x, approximate="none")) and not torch.equal(gelu(x), gelu(x, approximate="tanh"))
    assert torch.equal(gelu(x, bias), gelu(x, bias, "none"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_whole_range(dtype, kind, device):
    """Every magnitude, where exponentials overflow and differences cancel."""
    largest = torch.finfo(dtype).max
    x = torch.cat([torch.linspace(-14, 14, 3001), torch.logspace(-30, 30, 500), -torch.logspace(-30, 30, 500)])
    x = torch.cat([x, torch.tensor([0.0, largest, -largest])]).clamp(-largest, largest).to(dtype).to(device)
    assert_gelu(gelu(x, approximate=kind), x, kind)
    assert_gradient(x, torch.ones_like(x), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_tail_keeps_its_digits(kind, device):
    """Far below zero PyTorch's own GELU is left with none; here the relative error stays small."""
    x = torch.linspace(-6, 0, 6001, device=device)[:-1]
    expected, _ = value_64(x, kind)
    assert ((gelu(x, approximate=kind).double() - expected) / expected).abs().max() < 2e-5


@pytest.mark.parametrize("kind", KINDS)
def test_a_zero_keeps_its_sign(kind, device):
    x = torch.tensor([0.0, -0.0], device=device)
    assert gelu(x, approximate=kind).signbit().tolist() == [False, True]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nan_and_infinity_as_in_pytorch(dtype, kind, device):
    x = torch.tensor([NAN, INF, -INF, 0.0, 1.0], dtype=dtype, device=device)
    y = gelu(x, approximate=kind)
    # PyTorch's kernels for CPUs give NaN for +inf in some dtypes, so it is asked in float64.
    expected = torch.nn.functional.gelu(x.double(), approximate=kind)
    torch.testing.assert_close(y.double(), expected, rtol=1e-2, atol=0, equal_nan=True)
    z = x.requires_grad_()
    (dx,) = torch.autograd.grad(gelu(z, approximate=kind).sum(), z)
    assert dx.isnan().tolist() == [True, True, True, False, False]
    bias = torch.tensor([NAN, INF, -INF, 0.0, 1.0], dtype=dtype, device=device)
    y = gelu(x.detach(), bias, kind)
    expected = torch.nn.functional.gelu((x.detach() + bias).double(), approximate=kind)
    assert torch.equal(y.isnan(), expected.isnan())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 1000, 2048, 3000])
def test_kernels_touch_their_elements_and_no_other(n, kind, dtype, device):
    x = poisoned(random(n, dtype=dtype, device=device, scale=2))
    dy = poisoned(random(n, dtype=dtype, device=device, seed=1))
    y, buffer = guarded((n,), dtype, device)
    with within([x], [y]):
        gelu_flat(x, y, kind)
    assert_gelu(y, x, kind)
    assert_guard_untouched(y, buffer)
    dx, buffer = guarded((n,), dtype, device)
    with within([x, dy], [dx]):
        gelu_flat_backward(x, dy, dx, kind)
    expected, error = gradient_64(x, dy, kind)
    assert_within(dx, expected, rounded(expected, error, dtype))
    assert_guard_untouched(dx, buffer)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(5, 1024), (3, 700), (300, 3)], ids=str)
def test_bias_kernels_touch_their_elements_and_no_other(shape, dtype, device):
    kind, size = "tanh", shape[0] * shape[1]
    x = poisoned(random(size, dtype=dtype, device=device)).view(shape)
    dy = poisoned(random(size, dtype=dtype, device=device, seed=1)).view(shape)
    bias = poisoned(random(shape[1], dtype=dtype, device=device, seed=2))
    line, buffer = guarded((size,), dtype, device)
    with within([x, bias], [line]):
        gelu_bias_forward(x, bias, line.view(shape), kind)
    assert_gelu(line.view(shape), x, kind, bias)
    assert_guard_untouched(line, buffer)
    line, buffer = guarded((size,), dtype, device)
    dbias = gelu_bias_backward(x, bias, dy, line.view(shape), kind)
    expected, error = gradient_64(x, dy, kind, bias)
    assert_within(line.view(shape), expected, rounded(expected, error, dtype))
    assert_bias_gradient(dbias, expected, error)
    assert_guard_untouched(line, buffer)


def test_whole_blocks_need_no_mask(device):
    """Under one whose limit 16 does not divide, a thread loads its elements one by one."""
    x, dy = random(2048, device=device, scale=2), random(2048, device=device, seed=1)
    y, dx = torch.empty_like(x), torch.empty_like(x)
    with unmasked(2, 2, device):
        gelu_flat(x, y)
    assert_gelu(y, x, "none")
    with unmasked(4, 2, device):
        gelu_flat_backward(x, dy, dx)
    expected, error = gradient_64(x, dy, "none")
    assert_within(dx, expected, rounded(expected, error, dx.dtype))


@triton.jit
def store_activation_kernel(x_ptr, y_ptr, n_elements, KIND: tl.constexpr, BLOCK: tl.constexpr):
    """The activation alone, the one beside its derivative, and that, one behind the other."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    value, slope = activated_with_slope(x, KIND)
    tl.store(y_ptr + offsets, activated(x, KIND), mask=mask)
    tl.store(y_ptr + n_elements + offsets, value, mask=mask)
    tl.store(y_ptr + 2 * n_elements + offsets, slope, mask=mask)


@pytest.mark.parametrize("kind", ACTIVATIONS)
def test_the_activation_alone_and_beside_its_derivative(kind, device):
    """Whoever writes a kernel may call either function; GELU's own gradient leaves the activation unused."""
    x = torch.cat([torch.tensor([INF, 0.0, -0.0, -1e30, 1e30]), torch.linspace(-14, 14, 1001)]).to(device)
    y = torch.empty(3, len(x), device=device)
    store_activation_kernel[(1,)](x, y, len(x), KIND=kind, BLOCK=1024)
    expected, error = value_64(x, kind)
    for value in y[:2]:
        assert_within(value, expected, rounded(expected, error, y.dtype))
        assert torch.equal(value.signbit(), x.signbit())
    # At infinity the slope is NaN.
    expected, error = slope_64(x[1:], kind)
    assert_within(y[2, 1:], expected, rounded(expected, error, y.dtype))


def test_sums_far_apart_have_addresses_of_64_bits(device):
    """Three rows over a little more than four gibibytes, of which the operating system hands out what is touched."""
    n_columns = 2**30 + 64
    sums = torch.empty(2 * n_columns + 32, dtype=torch.float16, device=device)
    dbias = torch.empty(32, device=device)
    for row in range(3):
        sums[row * n_columns :][:32] = 2.0**row
    gelu_bias_sums_kernel[(1,)](sums, dbias, 3, n_columns, ROWS=4, BLOCK=32)
    assert (dbias == 7).all()


@pytest.mark.parametrize("view", VIEWS)
def test_views(view, device):
    x, dy = VIEWS[view](random(6, 40, device=device)), VIEWS[view](random(6, 40, device=device, seed=1))
    kept = x.clone()
    assert_gelu(gelu(x), x, "none")
    assert_gradient(x, dy, "tanh")
    assert_gradient(x, dy.contiguous(), "tanh")
    bias = random(2 * x.shape[-1], device=device, seed=2)[::2]
    assert_gelu(gelu(x, bias), x, "none", bias)
    assert_bias_gradients(x, bias, dy, "tanh")
    assert torch.equal(x, kept)


def test_dense_layouts_are_kept(device):
    x, dy = random(5, 6, 7, device=device).permute(2, 0, 1), random(5, 6, 7, device=device, seed=1).permute(2, 0, 1)
    assert gelu(x).stride() == x.stride()
    assert_gelu(gelu(x), x, "none")
    assert_gradient(x, dy, "none")
    assert_gradient(x, dy.contiguous(), "none")


def test_views_that_negate(device):
    x, bias = torch._neg_view(random(3, 50, device=device)), torch._neg_view(random(50, device=device, seed=1))
    assert x.is_neg() and bias.is_neg()
    assert_gelu(gelu(x), x, "none")
    assert_gelu(gelu(x, bias), x, "none", bias)
    assert_gradient(random(3, 50, device=device), x, "tanh")


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (0,), (3, 0), (0, 4, 2)], ids=str)
def test_one_element_none_and_no_dimensions(shape, device):
    x = random(*shape, device=device)
    assert_gelu(gelu(x), x, "none")
    assert_gradient(x, random(*shape, device=device, seed=1), "tanh")
    if shape:
        assert_bias_gradients(x, random(shape[-1], device=device, seed=2), random(*shape, device=device, seed=1), "none")


def test_more_dimensions_than_two_with_a_bias(device):
    x, bias = random(2, 3, 4, 50, device=device), random(50, device=device, seed=1)
    assert_gelu(gelu(x, bias), x, "none", bias)
    assert_bias_gradients(x, bias, random(2, 3, 4, 50, device=device, seed=2), "none")


@pytest.mark.parametrize("rows", [1, 8, 600, 3000])
def test_a_bias_gradient_of_many_rows_is_the_same_every_time(rows, device):
    x, bias = random(rows, 24, device=device).requires_grad_(), random(24, device=device, seed=1).requires_grad_()
    dy = random(rows, 24, device=device, seed=2)
    assert_bias_gradients(x, bias, dy, "none")
    first, second = (torch.autograd.grad(gelu(x, bias), bias, dy)[0] for _ in range(2))
    assert torch.equal(first, second)


def test_gradient_of_one_input_alone(device):
    x, bias, dy = random(4, 6, device=device), random(6, device=device, seed=1), random(4, 6, device=device, seed=2)
    (dx,) = torch.autograd.grad(gelu(x.requires_grad_(), bias), x, dy)
    expected, error = gradient_64(x.detach(), dy, "none", bias)
    assert_within(dx, expected, rounded(expected, error, dx.dtype))
    (dbias,) = torch.autograd.grad(gelu(x.detach(), bias.requires_grad_()), bias, dy)
    assert_bias_gradient(dbias, expected, error)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_that_may_be_differentiated_again_is_as_exact(kind, dtype, device):
    x, dy = random(7, 50, dtype=dtype, device=device, scale=0.9), random(7, 50, dtype=dtype, device=device, seed=1)
    assert_gradient(x, dy, kind, create_graph=True)
    assert_bias_gradients(x, random(50, dtype=dtype, device=device, seed=2), dy, kind, create_graph=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_bias", [False, True])
def test_second_derivative(with_bias, kind, device):
    x, bias = random(4, 5, device=device).requires_grad_(), random(5, device=device, seed=1).requires_grad_()

    def penalty(function, x, bias):
        y = function(x, bias if with_bias else None, kind)
        (dx,) = torch.autograd.grad((y * x).sum(), x, create_graph=True)
        return torch.autograd.grad((dx**2).sum(), (x, bias), allow_unused=True)

    found = penalty(gelu, x, bias)
    expected = penalty(gelu_reference, x.detach().double().requires_grad_(), bias.detach().double().requires_grad_())
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-6)


def test_has_no_graph_where_no_gradient_is_wanted(device):
    x = random(4, device=device)
    assert not gelu(x).requires_grad
    with torch.no_grad():
        assert not gelu(x.requires_grad_(), x).requires_grad


def test_an_input_changed_after_the_call_is_noticed(device):
    x = random(4, device=device).requires_grad_()
    z = x * 1
    y = gelu(z)
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_error_is_no_larger_than_pytorchs(dtype, kind, device):
    x = random(20_000, dtype=dtype, device=device, scale=2)
    expected = torch.nn.functional.gelu(x.double(), approximate=kind)
    ours = (gelu(x, approximate=kind).double() - expected).norm()
    theirs = (torch.nn.functional.gelu(x, approximate=kind).double() - expected).norm()
    assert ours <= 1.05 * theirs + relative_step(dtype) * 1e-3


@pytest.mark.parametrize("wrong", [torch.int32, torch.bool, torch.float64, torch.complex64], ids=str)
def test_other_dtypes_are_refused(wrong, device):
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^x: expected dtype float32, float16 or bfloat16, got {name}$"):
        gelu(torch.ones(3, dtype=wrong, device=device))


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"^x: expected a torch.Tensor, got list$"):
        gelu([1.0, 2.0])


def test_another_bias_is_refused(device):
    x = torch.ones(2, 3, device=device)
    with pytest.raises(TypeError, match=r"^bias: expected a torch.Tensor, got float$"):
        gelu(x, 1.0)
    with pytest.raises(TypeError, match=r"^bias: expected dtype float32, the dtype of x, got float16$"):
        gelu(x, x[0].half())
    wanted = r"^bias: expected a vector as long as the last dimension of x, of shape"
    for bad in (torch.ones(2), torch.ones(1), torch.ones(()), torch.ones(1, 3), torch.ones(2, 3)):
        with pytest.raises(ValueError, match=wanted):
            gelu(x, bad.to(device))
    with pytest.raises(ValueError, match=wanted):
        gelu(torch.ones((), device=device), torch.ones((), device=device))
    with pytest.raises(ValueError, match=r"^bias: expected device .*, the device of x, got meta$"):
        gelu(x, torch.ones(3, device="meta"))


def test_another_approximation_is_refused(device):
    with pytest.raises(ValueError, match=r"^approximate: expected 'none' or 'tanh', got 'silu'$"):
        gelu(torch.ones(3, device=device), approximate="silu")
    with pytest.raises(TypeError, match=r"^approximate: expected a str, got bool$"):
        gelu(torch.ones(3, device=device), approximate=True)


def test_the_reference_agrees_with_float64(device):
    x, bias = random(5, 100, device=device), random(100, device=device, seed=1)
    for kind in KINDS:
        torch.testing.assert_close(gelu_reference(x, None, kind).double(), value_64(x, kind)[0], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(gelu_reference(x, bias, kind).double(), value_64(x + bias, kind)[0], rtol=1e-5, atol=1e-6)


@needs("cuda")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_on_the_gpu_at_every_alignment(dtype, device):
    buffer = random(2, 100_000, dtype=dtype, device=device)
    for start in range(9):
        for length in (98_304, 98_432, 98_433):
            x, dy = buffer[0, start:][:length], buffer[1, start:][:length]
            assert_gelu(gelu(x), x, "none")
            assert_gradient(x, dy, "tanh")
    for columns in (1000, 4096, 14_336):
        x, bias = random(131, columns, dtype=dtype, device=device), random(columns, dtype=dtype, device=device, seed=1)
        assert_gelu(gelu(x, bias), x, "none", bias)
        assert_bias_gradients(x, bias, random(131, columns, dtype=dtype, device=device, seed=2), "tanh")


@needs("cuda")
@pytest.mark.parametrize("extra", [0, 1])
def test_more_than_two_to_the_31_elements(extra, device):
    need_free_memory(60)
    rows, columns, dtype = 2**19 + 3, 4096 + extra, torch.bfloat16
    x = torch.randint(-8, 8, (rows, columns), device=device, dtype=dtype)
    bias = random(columns, dtype=dtype, device=device)
    parts = [slice(0, 3), slice(rows // 2, rows // 2 + 3), slice(-3, None)]
    y, z = gelu(x), gelu(x, bias)
    for part in parts:
        assert_gelu(y[part], x[part], "none")
        assert_gelu(z[part], x[part], "none", bias)
    for one in (y, z):
        assert not any(block.isnan().any() for block in one.split(2**15))
    del y, z
    dy = torch.ones_like(x)
    x.requires_grad_()
    (dx,) = torch.autograd.grad(gelu(x), x, dy)
    for part in parts:
        expected, error = gradient_64(x[part].detach(), dy[part], "none")
        assert_within(dx[part], expected, rounded(expected, error, dtype))
    del dx
    (dx,) = torch.autograd.grad(gelu(x, bias), x, dy)
    for part in parts:
        expected, error = gradient_64(x[part].detach(), dy[part], "none", bias)
        assert_within(dx[part], expected, rounded(expected, error, dtype))
