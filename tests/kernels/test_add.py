"""kernels.add against float64: the float32 sum, rounded once to the result's dtype, bit for bit."""

import itertools

import pytest
import torch

from kernels import add
from kernels.add import add_flat, add_reference
from tests.interpreter import only_touching
from tests.kernels.numerics import DTYPES, VIEWS, assert_guard_untouched, guarded, poisoned, random
from tests.needs import need_free_memory, needs


def exact(x: torch.Tensor, y: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The float64 sum rounded to float32 and then to `dtype`, as the kernel promises."""
    return (x.double() + y.double()).float().to(dtype)


def assert_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out, reference = add(x, y), add_reference(x, y)
    assert (out.shape, out.dtype, out.device) == (reference.shape, reference.dtype, reference.device)
    torch.testing.assert_close(out, exact(x, y, out.dtype), rtol=0, atol=0, equal_nan=True)
    return out


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 31, 1023, 1024, 1025, 4096, 5000])
def test_any_length(n, dtype, device):
    assert_add(random(n, dtype=dtype, device=device), random(n, dtype=dtype, device=device, seed=1))


@pytest.mark.parametrize("dtypes", list(itertools.product(DTYPES, DTYPES)), ids=str)
def test_dtypes_promote_as_in_pytorch(dtypes, device):
    x, y = random(7, 300, dtype=dtypes[0], device=device), random(7, 300, dtype=dtypes[1], device=device, seed=1)
    assert add(x, y).dtype == torch.promote_types(*dtypes)
    assert_add(x, y)


@pytest.mark.parametrize("dtypes", list(itertools.product(DTYPES, DTYPES)), ids=str)
def test_a_tensor_without_dimensions_does_not_promote_one_with(dtypes, device):
    x, y = random(33, dtype=dtypes[0], device=device), random(dtype=dtypes[1], device=device, seed=1)
    assert add(x, y).dtype == torch.result_type(x, y)
    assert_add(x, y)
    assert_add(y, x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_writes_every_element_and_no_other(dtype, device):
    x, y = poisoned(random(2500, dtype=dtype, device=device)), poisoned(random(2500, dtype=dtype, device=device, seed=1))
    out, buffer = guarded((2500,), dtype, device)
    if device == "cpu":
        with only_touching([x, y], [out]):
            add_flat(x, y, out)
    else:
        add_flat(x, y, out)
    torch.testing.assert_close(out, exact(x, y, dtype), rtol=0, atol=0)
    assert_guard_untouched(out, buffer)


@pytest.mark.parametrize("x_view", VIEWS)
@pytest.mark.parametrize("y_view", ["contiguous", "same"])
def test_views(x_view, y_view, device):
    x = VIEWS[x_view](random(6, 40, device=device))
    y = random(*x.shape, device=device, seed=1) if y_view == "contiguous" else VIEWS[x_view](random(6, 40, device=device, seed=1))
    kept = x.clone()
    assert_add(x, y)
    assert_add(y, x)
    assert torch.equal(x, kept)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_dense_layouts_other_than_row_major(order, device):
    x, y = random(5, 6, 7, device=device).permute(order), random(5, 6, 7, device=device, seed=1).permute(order)
    assert_add(x, y)
    assert_add(x, y.contiguous())


SHAPES = [((), ()), ((), (1,)), ((1,), (5,)), ((4, 1), (1, 6)), ((3, 1, 5), (4, 1))]
EMPTY = [((0,), (1,)), ((2, 0, 3), (1, 3)), ((5, 1), (5, 0))]


@pytest.mark.parametrize("shapes", SHAPES + EMPTY, ids=str)
def test_broadcasting(shapes, device):
    x, y = random(*shapes[0], device=device), random(*shapes[1], device=device, seed=1)
    assert_add(x, y)
    assert_add(y, x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nan_infinity_and_extremes(dtype, device):
    info = torch.finfo(dtype)
    values = [0.0, -0.0, 1.0, 1e-30, 1e4, float("inf"), -float("inf"), float("nan")]
    values += [info.max, -info.max, info.tiny, info.tiny * info.eps]
    values = torch.tensor(values, dtype=torch.float64).to(dtype).to(device)
    out = assert_add(values[:, None].expand(12, 12).contiguous(), values.expand(12, 12).contiguous())
    zeros = values[:2, None] + values[:2]
    assert torch.equal(torch.signbit(out[:2, :2]), torch.signbit(zeros))


def test_views_that_negate(device):
    x = torch._neg_view(random(100, device=device))
    assert x.is_neg()
    assert_add(x, random(100, device=device, seed=1))
    assert_add(x, x)


def test_one_tensor_twice(device):
    x = random(1000, device=device)
    assert_add(x, x)


def test_is_a_leaf_without_a_graph_where_no_gradient_is_wanted(device):
    x = random(4, device=device)
    assert not add(x, x).requires_grad
    with torch.no_grad():
        assert not add(x.requires_grad_(), x).requires_grad


GRADIENTS = [((5, 7), (5, 7)), ((5, 7), (7,)), ((5, 1), (1, 7)), ((), (3,)), ((), ()), ((0, 3), (3,)), ((2, 3, 4), (3, 1))]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", GRADIENTS, ids=str)
def test_gradients(shapes, dtype, device):
    x, y = (random(*shape, dtype=dtype, device=device, seed=seed).requires_grad_() for seed, shape in enumerate(shapes))
    # Small integers, so that their sums are exact in every dtype.
    weight = torch.arange(torch.broadcast_shapes(*shapes).numel(), device=device).view(torch.broadcast_shapes(*shapes)) % 5 - 2.0
    dx, dy = torch.autograd.grad(add(x, y), (x, y), weight.to(dtype))
    x64, y64 = x.detach().double().requires_grad_(), y.detach().double().requires_grad_()
    expected = torch.autograd.grad(x64 + y64, (x64, y64), weight.double())
    assert (dx.dtype, dy.dtype, dx.shape, dy.shape) == (x.dtype, y.dtype, x.shape, y.shape)
    assert torch.equal(dx.double(), expected[0]) and torch.equal(dy.double(), expected[1])


def test_gradients_of_promoted_inputs_have_their_dtypes(device):
    x = random(4, 5, dtype=torch.float16, device=device).requires_grad_()
    y = random(5, dtype=torch.float32, device=device).requires_grad_()
    add(x, y).sum().backward()
    assert x.grad.dtype == torch.float16 and torch.equal(x.grad, torch.ones_like(x))
    assert y.grad.dtype == torch.float32 and torch.equal(y.grad, torch.full_like(y, 4.0))


def test_gradient_of_one_input_alone(device):
    x, y = random(6, device=device).requires_grad_(), random(6, device=device)
    add(x, y).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x)) and y.grad is None
    x.grad = None
    add(y, x).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))


def test_backward_of_a_gradient_that_is_not_contiguous(device):
    x = random(4, 6, device=device).requires_grad_()
    dout = random(6, 4, device=device, seed=2).mT
    (dx,) = torch.autograd.grad(add(x, random(6, device=device)), x, dout)
    assert torch.equal(dx, dout)


def test_second_derivative(device):
    x, y = random(5, device=device).requires_grad_(), random(5, device=device, seed=1).requires_grad_()
    (dx,) = torch.autograd.grad((add(x, y) ** 3).sum(), x, create_graph=True)
    (dxy,) = torch.autograd.grad(dx.sum(), y)
    torch.testing.assert_close(dxy, 6 * (x + y).detach(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("wrong", [torch.int32, torch.int64, torch.bool, torch.float64, torch.complex64], ids=str)
def test_other_dtypes_are_refused(wrong, device):
    good, bad = torch.ones(3, device=device), torch.ones(3, dtype=wrong, device=device)
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^x: expected dtype float32, float16 or bfloat16, got {name}$"):
        add(bad, good)
    with pytest.raises(TypeError, match=rf"^y: expected dtype float32, float16 or bfloat16, got {name}$"):
        add(good, bad)


def test_what_is_no_tensor_is_refused(device):
    with pytest.raises(TypeError, match=r"^y: expected a torch.Tensor, got float$"):
        add(torch.ones(3, device=device), 2.0)
    with pytest.raises(TypeError, match=r"^x: expected a torch.Tensor, got list$"):
        add([1.0], torch.ones(1, device=device))


def test_shapes_that_do_not_broadcast_are_refused(device):
    with pytest.raises(ValueError, match=r"^y: expected a shape that broadcasts with x's \(2, 3\), got \(4,\)$"):
        add(torch.ones(2, 3, device=device), torch.ones(4, device=device))


@needs("cuda")
def test_a_tensor_on_another_device_is_refused(device):
    with pytest.raises(ValueError, match=r"^y: expected a CUDA tensor, got one on cpu"):
        add(torch.ones(3, device=device), torch.ones(3))


@needs("cuda")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_on_the_gpu_at_every_alignment(dtype, device):
    buffer = random(2, 100_000, dtype=dtype, device=device)
    for start in range(9):
        for length in (98_432, 98_433):
            assert_add(buffer[0, start : start + length], buffer[1, start : start + length])


@needs("cuda")
def test_more_than_two_to_the_31_elements(device):
    need_free_memory(60)
    n = 2**31 + 1025
    x = torch.randint(-8, 8, (n,), device=device, dtype=torch.bfloat16)
    y = torch.randint(-8, 8, (n,), device=device, dtype=torch.bfloat16)
    out = torch.full((n + 1024,), float("nan"), device=device, dtype=torch.bfloat16)
    add_flat(x, y, out[:n])
    assert torch.equal(out[:n], x + y)
    assert bool(out[n:].isnan().all())
    assert torch.equal(add(x, y), x + y)
