"""kernels.swiglu and kernels.geglu against float64, forward and backward, whole tensors and halves of one matrix."""

import contextlib

import pytest
import torch

from kernels import geglu, swiglu
from kernels.activations.gated_unit import gated_unit_backward_launch, gated_unit_launch, gated_unit_shape
from kernels.activations.geglu import geglu_reference
from kernels.activations.swiglu import swiglu_reference
from tests.interpreter import only_touching
from tests.kernels.accesses import unmasked
from tests.kernels.activation_numerics import KINDS, rounded, slope_64, value_64
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
UNITS = {
    "silu": swiglu,
    "none": lambda gate, up: geglu(gate, up, approximate="none"),
    "tanh": lambda gate, up: geglu(gate, up, "tanh"),
}
REFERENCES = {
    "silu": swiglu_reference,
    "none": lambda gate, up: geglu_reference(gate, up, "none"),
    "tanh": lambda gate, up: geglu_reference(gate, up, approximate="tanh"),
}
LENGTHS = [1, 2, 1023, 1024, 1025, 2048, 5000]


def within(reads: list, writes: list):
    return only_touching(reads, writes) if reads[0].device.type == "cpu" else contextlib.nullcontext()


def inputs(*shape: int, dtype=torch.float32, device: str = "cpu") -> list[torch.Tensor]:
    """A gate, an up, and a gradient for the result."""
    return [random(*shape, dtype=dtype, device=device, scale=scale, seed=scale) for scale in (2, 1, 3)]


def assert_unit(y: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, kind: str) -> None:
    value, error = value_64(gate, kind)
    expected, error = value * up.double(), (error + FLOAT32_EPS * value.abs()) * up.double().abs()
    assert_within(y, expected, rounded(expected, error, y.dtype))


def assert_gradients(dgate: torch.Tensor, dup: torch.Tensor, gate, up, dy, kind: str) -> None:
    (value, value_error), (slope, slope_error) = value_64(gate, kind), slope_64(gate, kind)
    up, dy = up.double(), dy.double()
    expected, error = dy * up * slope, (dy * up).abs() * (slope_error + 2 * FLOAT32_EPS * slope.abs())
    assert_within(dgate, expected, rounded(expected, error, dgate.dtype))
    expected, error = dy * value, dy.abs() * (value_error + FLOAT32_EPS * value.abs())
    assert_within(dup, expected, rounded(expected, error, dup.dtype))


def check(gate: torch.Tensor, up: torch.Tensor, dy: torch.Tensor, kind: str, create_graph: bool = False) -> None:
    """Forward and backward through autograd."""
    gate, up = gate.detach().requires_grad_(), up.detach().requires_grad_()
    y = UNITS[kind](gate, up)
    assert (y.shape, y.dtype, y.device) == (gate.shape, gate.dtype, gate.device)
    assert_unit(y.detach(), gate.detach(), up.detach(), kind)
    assert torch.equal(y.detach(), UNITS[kind](gate.detach(), up.detach()))
    dgate, dup = torch.autograd.grad(y, (gate, up), dy, create_graph=create_graph)
    assert (dgate.shape, dgate.dtype, dup.shape, dup.dtype) == (gate.shape, gate.dtype, up.shape, up.dtype)
    assert_gradients(dgate.detach(), dup.detach(), gate.detach(), up.detach(), dy, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", LENGTHS)
def test_any_length(n, dtype, kind, device):
    gate, up, dy = inputs(n, dtype=dtype, device=device)
    kept = gate.clone(), up.clone(), dy.clone()
    check(gate, up, dy, kind)
    assert all(torch.equal(one, other) for one, other in zip((gate, up, dy), kept, strict=True))


def test_geglu_approximates_unless_said(device):
    gate, up, _ = inputs(500, device=device)
    assert torch.equal(geglu(gate, up), geglu(gate, up, "tanh"))
    assert not torch.equal(geglu(gate, up), geglu(gate, up, "none"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("columns", [1, 7, 96, 1024, 1500])
def test_halves_of_one_matrix(columns, dtype, kind, device):
    matrix = random(5, 2 * columns, dtype=dtype, device=device, scale=2)
    gate, up = matrix.chunk(2, dim=-1)
    check(gate, up, random(5, columns, dtype=dtype, device=device, seed=1), kind)
    whole = matrix.view(1, 5, 2 * columns)
    check(*whole.chunk(2, dim=-1), random(1, 5, columns, dtype=dtype, device=device, seed=1), kind)


def test_one_half_and_one_whole(device):
    gate, up, dy = inputs(6, 40, device=device)
    check(random(6, 100, device=device)[:, 30:70], up, dy, "silu")
    check(gate, random(6, 100, device=device)[:, 30:70], dy, "tanh")
    check(random(40, 6, device=device).mT, up, dy, "none")
    check(gate, random(1, 40, device=device).expand(6, -1), dy, "silu")


def test_more_rows_than_a_grid_has_places_for(device, monkeypatch):
    """Rows lie along the second axis of the grid, which ends at 65,535."""
    rows = 65_536
    matrix = random(rows, 2, device=device)
    launched = []

    def note(gate, up, y, kind):
        launched.append(gated_unit_shape(gate, up))
        return y

    monkeypatch.setattr("kernels.activations.gated_unit.gated_unit_launch", note)
    swiglu(*matrix.chunk(2, dim=-1))
    swiglu(*matrix[1:].chunk(2, dim=-1))
    assert launched == [(1, rows, 0, 0, 0), (rows - 1, 1, 2, 2, 1)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 1000), (1, 2048), (3, 1100), (4, 60)], ids=str)
def test_kernels_touch_their_elements_and_no_other(shape, kind, dtype, device):
    gate, up, dy = inputs(*shape, dtype=dtype, device=device)
    gate, up = poisoned(gate, gap=4), poisoned(up, gap=7)
    dy = poisoned(dy.flatten()).view(shape)
    y, buffer = guarded((shape[0] * shape[1],), dtype, device)
    with within([gate, up], [y]):
        gated_unit_launch(gate, up, y.view(shape), kind)
    assert_unit(y.view(shape), gate, up, kind)
    assert_guard_untouched(y, buffer)
    dgate, gate_buffer = guarded((shape[0] * shape[1],), dtype, device)
    dup, up_buffer = guarded((shape[0] * shape[1],), dtype, device)
    with within([gate, up, dy], [dgate, dup]):
        gated_unit_backward_launch(gate, up, dy, dgate.view(shape), dup.view(shape), kind)
    assert_gradients(dgate.view(shape), dup.view(shape), gate, up, dy, kind)
    assert_guard_untouched(dgate, gate_buffer)
    assert_guard_untouched(dup, up_buffer)


def test_whole_blocks_need_no_mask(device):
    """Under one whose limit 16 does not divide, a thread loads its elements one by one."""
    gate, up, dy = inputs(2, 1024, device=device)
    y, dgate, dup = (torch.empty_like(gate) for _ in range(3))
    with unmasked(4, 2, device):
        gated_unit_launch(gate, up, y)
    assert_unit(y, gate, up, "silu")
    with unmasked(6, 4, device):
        gated_unit_backward_launch(gate, up, dy, dgate, dup)
    assert_gradients(dgate, dup, gate, up, dy, "silu")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_whole_range(dtype, kind, device):
    largest = torch.finfo(dtype).max
    gate = torch.cat([torch.linspace(-14, 14, 3001), torch.logspace(-30, 30, 500), -torch.logspace(-30, 30, 500)])
    gate = torch.cat([gate, torch.tensor([0.0, largest, -largest])]).clamp(-largest, largest).to(dtype).to(device)
    check(gate, torch.full_like(gate, 0.5), torch.ones_like(gate), kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nan_and_infinity_as_in_pytorch(dtype, kind, device):
    values = torch.tensor([NAN, INF, -INF, 0.0, 1.0, -2.0], dtype=dtype, device=device)
    gate, up = values.repeat_interleave(6).requires_grad_(), values.repeat(6).requires_grad_()
    y = UNITS[kind](gate, up)
    gate64, up64 = gate.detach().double().requires_grad_(), up.detach().double().requires_grad_()
    expected = REFERENCES[kind](gate64, up64)
    torch.testing.assert_close(y.double(), expected, rtol=1e-2, atol=0, equal_nan=True)
    found = torch.autograd.grad(y.sum(), (gate, up))
    wanted = torch.autograd.grad(expected.sum(), (gate64, up64))
    for one, other in zip(found, wanted, strict=True):
        assert torch.equal(one.isnan(), other.isnan())


@pytest.mark.parametrize("kind", KINDS)
def test_a_zero_keeps_its_sign(kind, device):
    gate, up = torch.tensor([0.0, -0.0], device=device), torch.ones(2, device=device).requires_grad_()
    y = UNITS[kind](gate, up)
    assert y.signbit().tolist() == [False, True]
    assert torch.autograd.grad(y.sum(), up)[0].signbit().tolist() == [False, True]


@pytest.mark.parametrize("view", VIEWS)
def test_views(view, device):
    gate, up, dy = (VIEWS[view](x) for x in inputs(6, 40, device=device))
    check(gate, up, dy, "silu")
    check(gate, up.contiguous(), dy.contiguous(), "tanh")
    check(gate.contiguous(), up, dy, "none")


def test_more_dimensions(device):
    gate, up, dy = inputs(2, 3, 4, 25, device=device)
    check(gate, up, dy, "silu")
    check(gate.transpose(0, 2), up.transpose(0, 2), dy.transpose(0, 2), "tanh")
    check(gate[:, :, 1:3], up[:, :, 1:3], dy[:, :, 1:3], "silu")


def test_views_that_negate(device):
    gate, up, dy = (torch._neg_view(x) for x in inputs(3, 50, device=device))
    assert gate.is_neg() and up.is_neg() and dy.is_neg()
    check(gate, up, dy, "silu")
    check(gate[:, ::2], up[:, ::2], dy[:, ::2], "tanh")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (0,), (3, 0), (0, 4, 2)], ids=str)
def test_one_element_none_and_no_dimensions(shape, kind, device):
    check(*inputs(*shape, device=device), kind)


def test_gradient_of_one_input_alone(device):
    gate, up, dy = inputs(50, device=device)
    (dgate,) = torch.autograd.grad(swiglu(gate.requires_grad_(), up), gate, dy)
    gate = gate.detach()
    (dup,) = torch.autograd.grad(swiglu(gate, up.requires_grad_()), up, dy)
    assert_gradients(dgate, dup, gate, up.detach(), dy, "silu")


def test_one_tensor_twice(device):
    x = random(50, device=device).requires_grad_()
    (dx,) = torch.autograd.grad(swiglu(x, x).sum(), x)
    (expected,) = torch.autograd.grad(swiglu_reference(x, x).sum(), x)
    torch.testing.assert_close(dx, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_that_may_be_differentiated_again_is_as_exact(kind, dtype, device):
    gate, up, dy = inputs(7, 50, dtype=dtype, device=device)
    check(gate * 0.4, up, dy, kind, create_graph=True)


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivative(kind, device):
    def penalty(function, gate, up):
        y = function(gate, up)
        dgate, dup = torch.autograd.grad((y * y).sum(), (gate, up), create_graph=True)
        return torch.autograd.grad((dgate**2).sum() + (dup**3).sum(), (gate, up))

    gate, up, _ = inputs(20, device=device)
    found = penalty(UNITS[kind], gate.requires_grad_(), up.requires_grad_())
    expected = penalty(REFERENCES[kind], gate.detach().double().requires_grad_(), up.detach().double().requires_grad_())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-5)


def test_has_no_graph_where_no_gradient_is_wanted(device):
    gate, up, _ = inputs(4, device=device)
    assert not swiglu(gate, up).requires_grad
    with torch.no_grad():
        assert not geglu(gate.requires_grad_(), up).requires_grad


def test_an_input_changed_after_the_call_is_noticed(device):
    gate = random(4, device=device).requires_grad_()
    up = gate * 1
    y = swiglu(gate, up)
    up.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_error_is_no_larger_than_pytorchs(dtype, kind, device):
    gate, up, _ = inputs(20_000, dtype=dtype, device=device)
    expected = REFERENCES[kind](gate.double(), up.double())
    ours = (UNITS[kind](gate, up).double() - expected).norm()
    theirs = (REFERENCES[kind](gate, up).double() - expected).norm()
    assert ours <= 1.05 * theirs + relative_step(dtype) * 1e-3


@pytest.mark.parametrize("function", [swiglu, geglu])
def test_other_inputs_are_refused(function, device):
    x = torch.ones(2, 3, device=device)
    with pytest.raises(TypeError, match=r"^gate: expected a torch.Tensor, got list$"):
        function([1.0], x)
    with pytest.raises(TypeError, match=r"^gate: expected dtype float32, float16 or bfloat16, got int64$"):
        function(x.long(), x)
    with pytest.raises(TypeError, match=r"^up: expected a torch.Tensor, got float$"):
        function(x, 1.0)
    with pytest.raises(TypeError, match=r"^up: expected dtype float32, the dtype of gate, got float16$"):
        function(x, x.half())
    with pytest.raises(ValueError, match=r"^up: expected shape \(2, 3\), the shape of gate, got \(3,\)$"):
        function(x, x[0])
    with pytest.raises(ValueError, match=r"^up: expected device .*, the device of gate, got meta$"):
        function(x, x.to("meta"))


def test_another_approximation_is_refused(device):
    x = torch.ones(3, device=device)
    with pytest.raises(ValueError, match=r"^approximate: expected 'none' or 'tanh', got 'silu'$"):
        geglu(x, x, "silu")
    with pytest.raises(TypeError, match=r"^approximate: expected a str, got NoneType$"):
        geglu(x, x, None)


def test_the_references_agree_with_float64(device):
    gate, up, _ = inputs(300, device=device)
    for kind in KINDS:
        expected = value_64(gate, kind)[0] * up.double()
        torch.testing.assert_close(REFERENCES[kind](gate, up).double(), expected, rtol=1e-5, atol=1e-6)


@needs("cuda")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_on_the_gpu_at_every_alignment(dtype, device):
    buffer = random(3, 100_000, dtype=dtype, device=device)
    for start in range(9):
        for length in (98_304, 98_432, 98_433):
            check(*(row[start:][:length] for row in buffer), "silu")
    for columns in (96, 1000, 1023, 4096, 14_336):
        matrix = random(131, 2 * columns, dtype=dtype, device=device)
        check(*matrix.chunk(2, dim=-1), random(131, columns, dtype=dtype, device=device, seed=1), "tanh")


@needs("cuda")
@pytest.mark.parametrize("extra", [0, 1])
def test_more_than_two_to_the_31_elements(extra, device):
    need_free_memory(60)
    rows, columns, dtype = 2**15 + 3, 2**16 + extra, torch.bfloat16
    matrix = torch.randint(-8, 8, (rows, 2 * columns), device=device, dtype=dtype)
    parts = [slice(0, 3), slice(rows // 2, rows // 2 + 3), slice(-3, None)]
    for gate, up in (matrix.chunk(2, dim=-1), [half.contiguous() for half in matrix.chunk(2, dim=-1)]):
        y = swiglu(gate, up)
        assert not any(block.isnan().any() for block in y.split(2**11))
        dgate, dup = torch.empty_like(y), torch.empty_like(y)
        gated_unit_backward_launch(gate, up, y, dgate, dup, "silu")
        for part in parts:
            assert_unit(y[part], gate[part], up[part], "silu")
            assert_gradients(dgate[part], dup[part], gate[part], up[part], y[part], "silu")
        del y, dgate, dup
