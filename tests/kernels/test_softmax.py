"""kernels.softmax against float64, on every route: several short rows a program, one row a program, long rows in two walks."""

import contextlib

import pytest
import torch

from kernels import softmax
from kernels.softmax.softmax import BACKWARD, FORWARD, softmax_reference, softmax_route
from tests.interpreter import only_touching
from tests.kernels.numerics import (
    DTYPES,
    VIEWS,
    assert_guard_untouched,
    assert_softmax,
    assert_within,
    guarded,
    poisoned,
    random,
    softmax_backward_64,
    softmax_backward_error,
    softmax_error,
)
from tests.needs import need_free_memory, needs

ROUTES = ("short", "full", "row", "long")
MANY = 2**20


def last_of_route(route: str, dtype: torch.dtype) -> int:
    """The most columns that `route` serves, of lengths that 16 divides."""
    low, high = 16, 2**20
    while high - low > 16:
        middle = (low + high) // 32 * 16
        before = ROUTES.index(softmax_route(middle, dtype)) <= ROUTES.index(route)
        low, high = (middle, high) if before else (low, middle)
    return low


def columns_of(dtype: torch.dtype) -> list[int]:
    """Lengths on both sides of every boundary between routes, blocks and warps, and odd ones."""
    last_short, last_row = last_of_route("short", dtype), last_of_route("row", dtype)
    edges = [1, 32, 256, 512, last_short, 1024, 2048, 4096, 8192, 32768, last_row, 65536]
    return sorted({n for edge in edges for n in (edge, edge + 1)} | {3, 31, 100, 777, 12_345, 40_000})


def shape_for(columns: int) -> tuple[int, int]:
    """More rows than one program takes of short ones, and two of the others."""
    return (2048 // (1 << (columns - 1).bit_length()) + 1 if columns <= 1024 else 2, columns)


CASES = [pytest.param(dtype, n, id=f"{str(dtype).removeprefix('torch.')}-{n}") for dtype in DTYPES for n in columns_of(dtype)]


def within(reads: list, writes: list):
    return only_touching(reads, writes) if reads[0].device.type == "cpu" else contextlib.nullcontext()


def scratch_of(run, monkeypatch) -> list[torch.Tensor]:
    """What `run` allocates for itself. From then on it is given the same tensors again, full of NaN."""
    made: list[torch.Tensor] = []
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *shape, **options: made.append(empty(*shape, **options)) or made[-1])
    run()
    again = iter([tensor.fill_(float("nan")) for tensor in made])
    monkeypatch.setattr(torch, "empty", lambda *shape, **options: next(again))
    return made


def test_the_routes_meet_the_dtypes_they_are_for():
    for dtype in DTYPES:
        assert 1 <= last_of_route("short", dtype) < last_of_route("row", dtype) < 2**18
    assert [softmax_route(n, torch.bfloat16) for n in (1, 4096, 5008, 2**18)] == list(ROUTES)
    for backward in (False, True):
        assert [softmax_route(2**18, torch.bfloat16, backward, n_rows) for n_rows in (1, 32, MANY)] == ["split", "split", "long"]
        assert softmax_route(5008, torch.bfloat16, backward, 1) == "row"
    for dtype in DTYPES:
        assert [softmax_route(n, dtype) for n in (513, 1000, 5000, 16383)] == ["odd"] * 4
        assert [softmax_route(n, dtype, True) for n in (257, 1000, 5000, 8191, 12_680, 32_760)] == ["odd"] * 6
        assert softmax_route(9001, dtype, True) == ("odd" if dtype == torch.float32 else "long")
        assert [softmax_route(n, dtype, True) for n in (16_385, 32_769)] == ["row", "long"]
    assert [softmax_route(16_385, dtype) for dtype in (torch.float32, torch.bfloat16)] == ["row", "long"]
    backward = [softmax_route(n, torch.bfloat16, True, 7) for n in (256, 512, 1024, 2048, 4096, 8192, 16384, 2**18)]
    assert backward == ["short", "full", "full", "full", "full", "long", "row", "split"]


@pytest.mark.parametrize(("dtype", "columns"), CASES)
def test_rows_of_any_length(dtype, columns, device):
    x = random(*shape_for(columns), dtype=dtype, device=device, scale=4)
    kept = x.clone()
    y = softmax(x)
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
    assert_softmax(y, x)
    assert torch.equal(x, kept)


@pytest.mark.parametrize(("dtype", "columns"), CASES)
def test_gradients_of_rows_of_any_length(dtype, columns, device):
    x = random(*shape_for(columns), dtype=dtype, device=device, scale=2).requires_grad_()
    dy = random(*x.shape, dtype=dtype, device=device, scale=3, seed=1)
    assert_gradient(x, dy, -1)


def assert_gradient(x: torch.Tensor, dy: torch.Tensor, dim: int, create_graph: bool = False) -> None:
    """The gradient that autograd gives through kernels.softmax is that of float64 PyTorch."""
    (dx,) = torch.autograd.grad(softmax(x, dim), x, dy, create_graph=create_graph)
    dx = dx.detach()
    x64 = x.detach().double().requires_grad_()
    (expected,) = torch.autograd.grad(torch.softmax(x64, dim), x64, dy.double())
    assert (dx.shape, dx.dtype, dx.device) == (x.shape, x.dtype, x.device)
    y64 = torch.softmax(x64.detach(), dim)
    assert_within(dx, expected, softmax_backward_error(y64, dy, x.dtype, softmax_error(x.detach(), dim, x.dtype), dim))


def test_a_row_of_half_a_million(device):
    """Past the length from which a part of a row is larger."""
    x = random(1, 2**19 + 5, dtype=torch.float16, device=device, scale=4).requires_grad_()
    assert_softmax(softmax(x.detach()), x.detach())
    assert_gradient(x, random(*x.shape, dtype=torch.float16, device=device, seed=1), -1)


LENGTHS = {"short": (1, 3, 100, 512), "full": (1, 64, 512, 4096), "row": (1, 513, 1024, 3000), "long": (5, 4096, 9000)}
LENGTHS |= {"odd": (513, 1000, 2500, 4098), "split": (5, 2048, 5000)}
DIRECT = [(route, columns) for route in LENGTHS for columns in LENGTHS[route]]


def rows_for(route: str, columns: int) -> int:
    """As many rows as `route` is for: ragged tiles of short ones, whole tiles of full ones."""
    return shape_for(columns)[0] if route == "short" else 3 * max(1, 1024 // columns) if route == "full" else 3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("route", "columns"), DIRECT)
def test_kernel_touches_its_rows_and_nothing_else(route, columns, dtype, device, monkeypatch):
    rows = rows_for(route, columns)
    x = poisoned(random(rows, columns, dtype=dtype, device=device) - 3)
    y, buffer = guarded((rows, columns), dtype, device)
    scratch = scratch_of(lambda: FORWARD[route](x, torch.zeros_like(y)), monkeypatch) if route == "split" else []
    with within([x, *scratch], [y, *scratch]):
        FORWARD[route](x, y)
    assert_softmax(y, x)
    assert_guard_untouched(y, buffer)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("route", "columns"), DIRECT)
def test_backward_kernel_touches_its_rows_and_nothing_else(route, columns, dtype, device, monkeypatch):
    rows = rows_for(route, columns)
    y = poisoned(torch.softmax(random(rows, columns, device=device), -1).to(dtype), gap=2)
    dy = poisoned(random(rows, columns, dtype=dtype, device=device, scale=8, seed=1) + 5, gap=7)
    dx, buffer = guarded((rows, columns), dtype, device)
    scratch = scratch_of(lambda: BACKWARD[route](y, dy, torch.zeros_like(dx)), monkeypatch) if route == "split" else []
    with within([y, dy, *scratch], [dx, *scratch]):
        BACKWARD[route](y, dy, dx)
    assert_within(dx, softmax_backward_64(y, dy), softmax_backward_error(y, dy, dtype))
    assert_guard_untouched(dx, buffer)


@pytest.mark.parametrize("dim", range(-4, 4))
@pytest.mark.parametrize("middle", [5, 600])
def test_every_dim(dim, middle, device):
    x = random(2, 3, middle, 4, device=device)
    assert_softmax(softmax(x, dim), x, dim)
    assert_softmax(softmax(x, dim=dim), x, dim)
    assert_gradient(x.requires_grad_(), random(*x.shape, device=device, seed=1), dim)


def test_dim_is_the_last_unless_said(device):
    x = random(3, 4, device=device)
    assert torch.equal(softmax(x), softmax(x, -1))
    assert not torch.equal(softmax(x), softmax(x, 0))


@pytest.mark.parametrize("columns", [40, 700])
@pytest.mark.parametrize("view", VIEWS)
def test_views(view, columns, device):
    base = random(3, 5, columns, device=device)
    x = VIEWS[view](base)
    kept = x.clone()
    for dim in range(x.ndim):
        assert_softmax(softmax(x, dim), x, dim)
        assert_gradient(x.detach().requires_grad_(), VIEWS[view](random(*base.shape, device=device, seed=1)), dim)
    assert torch.equal(x, kept)


def test_views_that_negate(device):
    x = torch._neg_view(random(4, 50, device=device))
    assert x.is_neg()
    assert_softmax(softmax(x), x)


@pytest.mark.parametrize("columns", [50, 600, 40_000])
def test_rows_that_share_their_memory(columns, device):
    """Overlapping rows, as `unfold` makes them, and one row shown several times."""
    line = random(columns + 4, device=device)
    assert_softmax(softmax(line.unfold(0, columns, 2)), line.unfold(0, columns, 2))
    assert_softmax(softmax(line.expand(3, -1)), line.expand(3, -1))


@pytest.mark.parametrize("columns", [50, 600, 40_000])
def test_gradients_that_are_not_contiguous(columns, device):
    x = random(3, columns, device=device).requires_grad_()
    assert_gradient(x, random(columns, 3, device=device, seed=1).mT, -1)
    assert_gradient(x, random(1, columns, device=device, seed=1).expand(3, -1), -1)
    assert_gradient(x, random(3, 1, device=device, seed=1).expand(-1, columns), -1)
    assert_gradient(x, random(3, columns + 3, device=device, seed=1)[:, 2:-1], -1)


EMPTY = [((0,), 0), ((0, 5), 1), ((0, 5), 0), ((5, 0), 1), ((5, 0), 0), ((2, 0, 3), -1), ((2, 0, 3), 1)]


@pytest.mark.parametrize(("shape", "dim"), EMPTY)
def test_no_elements(shape, dim, device):
    x = torch.empty(shape, device=device, requires_grad=True)
    y = softmax(x, dim)
    assert y.shape == x.shape and y.dtype == x.dtype
    y.sum().backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (4, 1), (1, 4)], ids=str)
def test_one_element_and_no_dimensions(shape, dtype, device):
    x = random(*shape, dtype=dtype, device=device)
    for dim in range(-max(x.ndim, 1), max(x.ndim, 1)):
        assert_softmax(softmax(x, dim), x, dim)
        assert_gradient(x.detach().requires_grad_(), random(*shape, dtype=dtype, device=device, seed=1), dim)


def long(x: torch.Tensor) -> torch.Tensor:
    """Rows in two walks, as many of them as softmax would rather split over programs."""
    return FORWARD["long"](x, torch.empty_like(x))


def served_id(value) -> str:
    return value.__name__ if callable(value) else str(value)


SERVED = [(columns, softmax) for columns in (9, 64, 600, 1024, 40_000, 65_536)] + [(40_000, long), (65_536, long)]
NAN, INF = float("nan"), float("inf")
EVERY, BUT_LAST, BUT_FIRST = slice(None), slice(0, -1), slice(1, None)
SPECIAL = {
    "a NaN": [(1, NAN)],
    "a NaN at the end": [(-1, NAN)],
    "two infinities": [(2, INF), (5, INF)],
    "an infinity at the end": [(-1, INF)],
    "infinities of both signs": [(0, -INF), (3, INF)],
    "a NaN and an infinity": [(0, INF), (4, NAN)],
    "minus infinity at the start": [(0, -INF), (1, -INF)],
    "minus infinity at the end": [(-1, -INF)],
    "nothing but minus infinity": [(EVERY, -INF)],
    "minus infinity but for the last": [(BUT_LAST, -INF)],
    "minus infinity but for the first": [(BUT_FIRST, -INF)],
    "nothing but NaN": [(EVERY, NAN)],
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("columns", "function"), SERVED, ids=served_id)
def test_nan_and_infinity_as_in_pytorch(columns, function, dtype, device):
    x = random(len(SPECIAL) + 1, columns, dtype=dtype, device=device)
    for row, values in enumerate(SPECIAL.values()):
        for at, value in values:
            x[row, at] = value
    y = function(x)
    for row, name in enumerate([*SPECIAL, "an ordinary row among them"]):
        expected = torch.softmax(x[row].float(), -1)
        assert torch.equal(y[row].isnan(), expected.isnan()), name
        if not expected.isnan().any():
            assert (y[row][x[row] == -INF] == 0).all(), name
            assert_softmax(y[row][x[row] > -INF], x[row][x[row] > -INF])


@pytest.mark.parametrize("columns", [33, 700, 33_000])
def test_nan_in_the_gradient_stays_in_its_row(columns, device):
    x = random(3, columns, device=device).requires_grad_()
    dy = random(3, columns, device=device, seed=1)
    dy[1, 7] = NAN
    (dx,) = torch.autograd.grad(softmax(x), x, dy)
    assert dx[1].isnan().all() and not dx[[0, 2]].isnan().any()


FAR_APART = [(30, softmax), (900, softmax), (40_000, softmax), (40_000, long)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("columns", "function"), FAR_APART, ids=served_id)
def test_values_far_apart(columns, function, dtype, device):
    largest = torch.finfo(dtype).max
    x = random(9, columns, device=device)
    x[0] *= 1e4
    x[1] *= 1e-30
    x[2] += 1e4
    x[3] -= 1e4
    x[4] = torch.linspace(-80, 0, columns, device=device)
    x[5, ::2], x[5, 1::2] = largest, -largest
    x[6] = largest
    x[7] = -largest  # a row that is masked out whole
    x[8, : columns // 2] = -largest
    x = x.clamp(-largest, largest).to(dtype)
    assert_softmax(function(x), x)


@pytest.mark.parametrize("columns", [16, 2000, 40_000])
def test_what_is_added_to_a_row_does_not_count(columns, device):
    # Adding 1024 to multiples of 1/64 is exact, so the expected result and its bound stay those of the smaller numbers.
    x = (random(3, columns, device=device) * 64).round() / 64
    assert_softmax(softmax(x + 1024), x)
    assert_softmax(softmax(x - 1024), x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("columns", [30, 900, 40_000])
def test_rows_sum_to_one(columns, dtype, device):
    x = random(3, columns, dtype=dtype, device=device)
    assert_within(softmax(x).double().sum(-1), torch.ones(3, device=device), softmax_error(x, -1, dtype).sum(-1))


def test_has_no_graph_where_no_gradient_is_wanted(device):
    x = random(4, device=device)
    assert not softmax(x).requires_grad
    with torch.no_grad():
        assert not softmax(x.requires_grad_()).requires_grad


def test_the_reference_agrees_with_pytorch(device):
    x = random(5, 100, dtype=torch.float32, device=device)
    for dim in (0, 1, -1):
        torch.testing.assert_close(softmax_reference(x, dim), torch.softmax(x, dim), rtol=2e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_gradient_that_may_be_differentiated_again_is_as_exact(dtype, device):
    x = random(5, 300, dtype=dtype, device=device, scale=2).requires_grad_()
    dy = random(5, 300, dtype=dtype, device=device, scale=3, seed=1) + 5
    assert_gradient(x, dy, -1, create_graph=True)


@pytest.mark.parametrize("weight", ["constant", "of the inputs"])
def test_a_second_derivative_is_right_or_refused(weight, device):
    """A gradient penalty must never lose softmax's part in silence, also where the first gradient came from a constant."""
    x = random(3, 5, device=device).requires_grad_()
    w = random(3, 5, device=device, seed=1)

    def penalty(function, x, w):
        y = function(x, -1)
        (dx,) = torch.autograd.grad((y * (w if weight == "constant" else y * w)).sum(), x, create_graph=True)
        return torch.autograd.grad((dx**2).sum() + (x**2).sum(), x)[0]

    try:
        found = penalty(softmax, x, w)
    except RuntimeError as error:
        assert "differentiate twice" in str(error) or "softmax" in str(error)
    else:
        expected = penalty(torch.softmax, x.detach().double().requires_grad_(), w.double())
        torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("wrong", [torch.int32, torch.int64, torch.bool, torch.float64, torch.complex64], ids=str)
def test_other_dtypes_are_refused(wrong, device):
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^x: expected dtype float32, float16 or bfloat16, got {name}$"):
        softmax(torch.ones(3, dtype=wrong, device=device))


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match=r"^x: expected a torch.Tensor, got list$"):
        softmax([1.0, 2.0])


@pytest.mark.parametrize(("shape", "dim"), [((2, 3), 2), ((2, 3), -3), ((), 1)])
def test_a_dim_out_of_range_is_refused(shape, dim, device):
    with pytest.raises(ValueError, match=rf"^dim: expected a dimension from .* for shape .*, got {dim}$"):
        softmax(torch.ones(shape, device=device), dim)


@pytest.mark.parametrize("dim", [1.0, "0", None, True, (0, 1)])
def test_a_dim_that_is_no_int_is_refused(dim, device):
    with pytest.raises(TypeError, match=rf"^dim: expected an int, got {type(dim).__name__}$"):
        softmax(torch.ones(2, 3, device=device), dim)


@needs("cuda")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("columns", [2**k + d for k in range(3, 19) for d in (-1, 0)] + [50_257, 128_256, 262_143])
def test_on_the_gpu_at_full_width(columns, dtype, device):
    x = random(97, columns, dtype=dtype, device=device, scale=4).requires_grad_()
    assert_softmax(softmax(x.detach()), x.detach())
    assert_gradient(x, random(97, columns, dtype=dtype, device=device, seed=1), -1)


@needs("cuda")
@pytest.mark.parametrize(("columns", "n_rows"), [(256, MANY), (4096, MANY), (8192, MANY), (65_536, MANY), (65_536, 1)])
def test_more_than_two_to_the_31_elements(columns, n_rows, device):
    """On the route of many rows and, of the longest, also on that of few."""
    need_free_memory(60)
    rows, dtype = 2**31 // columns + 5, torch.bfloat16
    route = softmax_route(columns, dtype, n_rows=n_rows)
    x = torch.randint(-8, 8, (rows, columns), device=device, dtype=dtype)
    y = torch.full_like(x, NAN)
    FORWARD[route](x, y)
    assert not any(part.isnan().any() for part in y.split(2**28 // columns))
    dx = torch.full_like(x, NAN)
    BACKWARD[route](y, x, dx)
    assert not any(part.isnan().any() for part in dx.split(2**28 // columns))
    for part in (slice(0, 3), slice(rows // 2, rows // 2 + 3), slice(-3, None)):
        assert_softmax(y[part], x[part])
        assert_within(dx[part], softmax_backward_64(y[part], x[part]), softmax_backward_error(y[part], x[part], dtype))
    del y, dx
    assert_softmax(softmax(x)[-3:], x[-3:])
