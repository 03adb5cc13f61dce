"""kernels.layer_norm and kernels.rms_norm against float64: rows on chip, long rows, split rows, and both ways back."""

import contextlib
import functools
import math

import pytest
import torch
import torch.nn.functional as F

from kernels import layer_norm, rms_norm
from kernels.norm.backward import norm_tile_backward
from kernels.norm.backward_long import norm_long_backward
from kernels.norm.forward import norm_tile
from kernels.norm.forward_long import norm_long
from kernels.norm.forward_split import norm_split
from kernels.norm.layer_norm import layer_norm_reference
from kernels.norm.norm import (
    NORM_BACKWARD_ROW,
    NORM_FORWARD,
    NORM_FORWARD_ROW,
    NORM_SPLIT,
    NORM_SPLIT_NARROW,
    norm_backward_route,
    norm_route,
)
from kernels.norm.rms_norm import rms_norm_reference
from tests.interpreter import only_touching
from tests.kernels.numerics import (
    DTYPES,
    FLOAT32_EPS,
    VIEWS,
    assert_guard_untouched,
    assert_within,
    atol_of,
    guarded,
    poisoned,
    random,
    relative_step,
)
from tests.needs import need_free_memory, needs

NAMES = ("layer_norm", "rms_norm")
FORWARD = {"tile": norm_tile, "long": norm_long, "split": norm_split}
BACKWARD = {"tile": norm_tile_backward, "long": norm_long_backward, "split": norm_long_backward}
EPS = 1e-5
NAN, INF = float("nan"), float("inf")


def call(name: str, x, weight=None, bias=None, eps: float = EPS) -> torch.Tensor:
    return layer_norm(x, weight, bias, eps) if name == "layer_norm" else rms_norm(x, weight, eps)


def peer(name: str, x, weight=None, bias=None, eps: float = EPS) -> torch.Tensor:
    shape = x.shape[-1:]
    return F.layer_norm(x, shape, weight, bias, eps) if name == "layer_norm" else F.rms_norm(x, shape, weight, eps)


def as64(tensor):
    return None if tensor is None else tensor.detach().double()


class Exact:
    """A norm in float64, and how far float32 arithmetic may stray from it."""

    def __init__(self, name: str, x, weight=None, bias=None, eps: float = EPS):
        self.centered, self.dtype = name == "layer_norm", x.dtype
        x, self.weight = as64(x), 1.0 if weight is None else as64(weight)
        self.bias = 0.0 if bias is None else as64(bias)
        # The error of a sum grows with the levels of its tree; a little more where it is added up in a loop.
        self.sum_error = FLOAT32_EPS * (4 + math.log2(x.shape[-1]) / 2)
        self.mean = x.mean(-1, keepdim=True) if self.centered else torch.zeros_like(x[..., :1])
        mean_error = self.sum_error * x.abs().mean(-1, keepdim=True) if self.centered else 0.0
        distance = x - self.mean
        variance = distance.square().mean(-1, keepdim=True)
        self.rstd = torch.rsqrt(variance + eps)
        share = variance / (variance + eps)
        self.rstd_error = 0.5 * share * self.sum_error + 0.5 * mean_error**2 * self.rstd**2 + 3 * FLOAT32_EPS
        self.normal = distance * self.rstd
        self.normal_error = self.rstd * (mean_error + FLOAT32_EPS * distance.abs()) + self.normal.abs() * self.rstd_error
        self.y = self.normal * self.weight + self.bias

    def y_error(self) -> torch.Tensor:
        scaled = (self.normal * self.weight).abs()
        error = self.normal_error * abs(self.weight) + FLOAT32_EPS * (2 * scaled + self.y.abs())
        return error + relative_step(self.dtype) * self.y.abs() + atol_of(self.dtype)

    def gradients(self, dy) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """dx, dweight and dbias, each with how far it may be off."""
        dy = as64(dy)
        g, normal, rstd = dy * self.weight, self.normal, self.rstd
        dot = (g * normal).mean(-1, keepdim=True)
        dot_error = (g.abs() * self.normal_error + self.sum_error * (g * normal).abs()).mean(-1, keepdim=True)
        mean = g.mean(-1, keepdim=True) if self.centered else 0.0
        mean_error = self.sum_error * g.abs().mean(-1, keepdim=True) if self.centered else 0.0
        dx = (g - mean - normal * dot) * rstd
        parts = g.abs() + abs(mean) + (normal * dot).abs()
        error = rstd * (mean_error + self.normal_error * dot.abs() + normal.abs() * dot_error + 3 * FLOAT32_EPS * parts)
        error += dx.abs() * (self.rstd_error + relative_step(self.dtype)) + atol_of(self.dtype)
        rows = dy.reshape(-1, dy.shape[-1]).shape[0]
        chain = FLOAT32_EPS * (2 + math.sqrt(rows))
        found = [(dx, error)]
        for term, off in ((dy * normal, dy.abs() * self.normal_error), (dy, torch.zeros_like(dy))):
            term, off = term.reshape(rows, -1), off.reshape(rows, -1)
            found.append((term.sum(0), off.sum(0) + chain * term.abs().sum(0)))
        return found


def assert_norm(y, name, x, weight=None, bias=None, eps: float = EPS) -> None:
    exact = Exact(name, x, weight, bias, eps)
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
    assert_within(y.detach(), exact.y, exact.y_error())


def assert_gradients(name, x, weight, bias, dy, eps: float = EPS, create_graph: bool = False) -> None:
    """What autograd gives for x and for the parameters that are there is that of float64."""
    inputs = [t.detach().requires_grad_() for t in (x, weight, bias) if t is not None]
    given = iter(inputs)
    leaves = [None if t is None else next(given) for t in (x, weight, bias)]
    y = call(name, *leaves, eps)
    assert_norm(y, name, x, weight, bias, eps)
    found = torch.autograd.grad(y, inputs, dy, create_graph=create_graph)
    expected = Exact(name, x, weight, bias, eps).gradients(dy)
    kept = [pair for pair, t in zip(expected, (x, weight, bias), strict=True) if t is not None]
    for gradient, leaf, (value, error) in zip(found, inputs, kept, strict=True):
        assert (gradient.shape, gradient.dtype, gradient.device) == (leaf.shape, leaf.dtype, leaf.device)
        bound = error if leaf is inputs[0] else error + relative_step(leaf.dtype) * value.abs() + atol_of(leaf.dtype)
        assert_within(gradient.detach(), value, bound)


def parameters(name: str, columns: int, dtype, device) -> tuple[torch.Tensor, torch.Tensor | None]:
    weight = random(columns, dtype=dtype, device=device, seed=2)
    return weight, random(columns, dtype=dtype, device=device, seed=3) if name == "layer_norm" else None


def data(rows: int, columns: int, dtype, device) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows whose mean is not zero, and gradients whose mean is neither."""
    x = random(rows, columns, dtype=dtype, device=device, scale=2) + 1
    return x, random(rows, columns, dtype=dtype, device=device, seed=1) - 0.5


def within(reads: list, writes: list):
    return only_touching(reads, writes) if reads[0].device.type == "cpu" else contextlib.nullcontext()


@pytest.fixture
def short_limits(monkeypatch):
    """Send rows of more than 64 elements to the kernels for long ones, as if they were many."""
    monkeypatch.setattr("kernels.norm.norm.norm_route", norm_route.__wrapped__)  # which finds its limits anew each time
    monkeypatch.setattr("kernels.norm.norm.NORM_FORWARD_ROW", 64)
    monkeypatch.setattr("kernels.norm.norm.NORM_BACKWARD_ROW", 64)
    for limits in ("NORM_SPLIT", "NORM_SPLIT_NARROW"):
        monkeypatch.setattr(f"kernels.norm.norm.{limits}", ((0, 64),))


@pytest.fixture
def small_parts(monkeypatch):
    """Split a row into parts of a size that the interpreter can afford."""
    monkeypatch.setattr("kernels.norm.forward_split.norm_split_block", lambda n: (32, 1) if n < 1000 else (1024, 4))


@pytest.fixture
def split_limits(monkeypatch, short_limits, small_parts):
    """Split rows of more than 64 elements over programs, however many there are."""
    for limits in ("NORM_SPLIT", "NORM_SPLIT_NARROW"):
        monkeypatch.setattr(f"kernels.norm.norm.{limits}", ((2**40, 64),))


@pytest.fixture(params=["tile", "long", "split"])
def route(request):
    """Send rows of more than 64 elements along each of the routes in turn."""
    if request.param != "tile":
        request.getfixturevalue({"long": "short_limits", "split": "split_limits"}[request.param])
    return request.param


def scratch_of(run, patch) -> list[torch.Tensor]:
    """What `run` allocates for itself. From then on it is given the same tensors again, full of NaN."""
    made: list[torch.Tensor] = []
    empty = torch.empty
    patch.setattr(torch, "empty", lambda *shape, **options: made.append(empty(*shape, **options)) or made[-1])
    run()
    again = iter([tensor.fill_(NAN) for tensor in made])
    patch.setattr(torch, "empty", lambda *shape, **options: next(again))
    return made


SHAPES = [(1, 1), (9, 1), (1, 2), (600, 3), (37, 31), (33, 64), (10, 100), (3, 768), (5, 1000), (4, 1024), (2, 2049)]
CASES = [("layer_norm", torch.float32, *shape) for shape in SHAPES]
CASES += [("rms_norm", torch.float32, *shape) for shape in ((1, 1), (37, 31), (4, 1024))]
CASES += [("layer_norm", torch.bfloat16, 5, 1000), ("rms_norm", torch.bfloat16, 33, 64), ("layer_norm", torch.float16, 37, 31)]


@pytest.mark.parametrize(("name", "dtype", "rows", "columns"), CASES)
def test_rows_on_chip(name, dtype, rows, columns, device):
    x, dy = data(rows, columns, dtype, device)
    kept = x.clone()
    assert_gradients(name, x, *parameters(name, columns, dtype, device), dy)
    assert torch.equal(x, kept)


LONG = [("layer_norm", torch.float32, *shape) for shape in ((1, 65), (2, 4096), (70, 130), (3, 5000))]
LONG += [("rms_norm", torch.bfloat16, 70, 130), ("rms_norm", torch.float32, 3, 5000), ("layer_norm", torch.bfloat16, 3, 5000)]


@pytest.mark.parametrize(("name", "dtype", "rows", "columns"), LONG)
def test_long_rows(name, dtype, rows, columns, device, short_limits):
    x, dy = data(rows, columns, dtype, device)
    assert_gradients(name, x, *parameters(name, columns, dtype, device), dy)


def test_the_routes_that_the_lengths_choose(device):
    """Rows on the second-load side of the one-kernel route, and rows that take the long way in both directions."""
    assert NORM_FORWARD_ROW == NORM_BACKWARD_ROW == 16384
    for name, columns in (("rms_norm", 8200), ("layer_norm", 16385), ("layer_norm", 35_000)):
        x, dy = data(2, columns, torch.float32, device)
        assert_gradients(name, x, *parameters(name, columns, torch.float32, device), dy)


def test_few_long_rows_are_split_over_programs(device, monkeypatch):
    taken: list[str] = []
    for route in FORWARD:
        monkeypatch.setitem(NORM_FORWARD, route, lambda *arguments, route=route: taken.append(route))
    for rows, columns, more in [(*limit, 8) for limit in NORM_SPLIT] + [(*limit, 1) for limit in NORM_SPLIT_NARROW]:
        taken.clear()
        long = columns + more
        assert columns >= NORM_FORWARD_ROW and rows % 2 == 0
        for shape in ((long,), (rows, long), (2, rows // 2, long), (rows + 1, long), (2, rows, long), (rows, columns)):
            layer_norm(torch.zeros(shape, device=device))
        assert taken == ["split", "split", "split", "long", "long", "long" if columns > NORM_FORWARD_ROW else "tile"]
        rms_norm(torch.zeros(rows, long, device=device))
        rms_norm(torch.zeros(1, NORM_FORWARD_ROW, device=device))
        assert taken[6:] == ["split", "tile"]


def test_rows_that_would_fit_and_are_walked_along(device, monkeypatch):
    """Those that are loaded number by number, by their length or by their stride, and one that did better so."""
    def route(columns, size, centered=True, stride=0, rows=4096):
        return norm_route(rows, columns, stride or columns, size, centered)

    assert [route(n, 2) for n in (2047, 2056, 5000, 5001, 16383, 16384)] == ["tile", "tile", "tile", "long", "long", "tile"]
    assert [route(n, 4) for n in (4095, 4100, 4101, 16383)] == ["tile", "tile", "long", "long"]
    assert [route(n, 2) for n in (4094, 5002, 8188, 8196)] == ["tile", "long", "tile", "long"]  # loads of 4 and of 8 bytes
    assert [route(5001, 2, rows=rows) for rows in (256, 257)] == ["tile", "long"]
    assert [route(9001, 4, rows=rows) for rows in (128, 129)] == ["tile", "long"]
    assert [route(5000, 2, stride=stride) for stride in (5008, 5001)] == ["tile", "long"]
    assert [route(8192, size, centered) for size, centered in ((2, False), (4, False), (2, True))] == ["long", "tile", "tile"]
    monkeypatch.setattr("kernels.norm.norm.norm_route", lambda *shape: "long")  # three rows, walked along as if they were many
    for dtype, columns in ((torch.bfloat16, 2049), (torch.float32, 4097)):
        x, dy = data(3, columns, dtype, device)
        for name in NAMES:
            assert_gradients(name, x, *parameters(name, columns, dtype, device), dy)


def test_rows_that_would_fit_and_take_two_launches_back(device):
    def route(rows, columns, size, centered=True, stride=0):
        return norm_backward_route(rows, columns, (columns, stride or columns, columns), size, centered)

    assert [route(1, n, 2) for n in (8192, 8200, 16384, 16392)] == ["tile", "long", "long", "long"]
    assert [route(1025, n, 2) for n in (8200, 8196, 8194, 8193)] == ["tile", "tile", "long", "long"]
    assert [route(1025, 8200, 2, stride=stride) for stride in (8208, 8201)] == ["tile", "long"]
    assert [route(1025, 8200, 4, centered) for centered in (True, False)] == ["long", "tile"]
    for name in NAMES:
        x, dy = data(2, 8200, torch.float32, device)
        assert_gradients(name, x, *parameters(name, 8200, torch.float32, device), dy)


SPLIT = [("layer_norm", torch.float32, *shape) for shape in ((1, 65), (2, 96), (7, 130), (2, 3072), (3, 5000))]
SPLIT += [(name, dtype, 3, 97) for name in NAMES for dtype in DTYPES] + [("rms_norm", torch.bfloat16, 3, 5000)]


@pytest.mark.parametrize(("name", "dtype", "rows", "columns"), SPLIT)
def test_split_rows(name, dtype, rows, columns, device, split_limits):
    """Parts that a row fills, and a last one of a single element; the row's numbers serve the way back."""
    x, dy = data(rows, columns, dtype, device)
    x[:, : columns // 2] += 3  # so that the parts differ in their means
    assert_gradients(name, x, *parameters(name, columns, dtype, device), dy)


def test_views_of_split_rows(device, split_limits):
    x = random(6, 80, device=device) + 1
    for view in (x[::2, 1:-2], x.mT.contiguous().mT, x[:1].expand(3, -1), x[:3, :1].expand(-1, 70), x.view(2, 3, 80)):
        kept = view.clone()
        assert_norm(layer_norm(view), "layer_norm", view)
        assert torch.equal(view, kept)


def test_a_row_of_half_a_million(device):
    """Past the length from which a part of a row is larger."""
    x = random(1, 2**19 + 5, dtype=torch.float16, device=device) + 2
    assert_norm(layer_norm(x), "layer_norm", x)


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 33])
def test_long_rows_in_any_number(rows, device, short_limits):
    x, dy = data(rows, 66, torch.float32, device)
    assert_gradients("layer_norm", x, *parameters("layer_norm", 66, torch.float32, device), dy)


TOUCHED = [
    ("tile", 3, 1000),
    ("tile", 4, 1024),
    ("tile", 37, 33),
    ("tile", 64, 32),
    ("long", 5, 40),
    ("long", 2, 4099),
    ("split", 1, 20),
    ("split", 3, 64),
    ("split", 5, 97),
    ("split", 2, 4099),
]


@pytest.mark.parametrize(("name", "dtype"), [("layer_norm", torch.float32), ("rms_norm", torch.bfloat16)])
@pytest.mark.parametrize(("route", "rows", "columns"), TOUCHED)
def test_kernels_touch_their_rows_and_nothing_else(name, route, rows, columns, dtype, device, small_parts):
    values, dvalues = data(rows, columns, dtype, device)
    x, dy = poisoned(values), poisoned(dvalues, gap=7)
    weight, bias = (None if p is None else poisoned(p[None])[0] for p in parameters(name, columns, dtype, device))
    exact = Exact(name, values, weight, bias)
    y, buffer = guarded((rows, columns), dtype, device)
    (rstd, rstd_buffer), (mean, mean_buffer) = (guarded((1, rows), torch.float32, device) for _ in range(2))
    mean, written = (mean[0], [mean, rstd, y]) if exact.centered else (None, [rstd, y])
    reads = [t for t in (x, weight, bias) if t is not None]
    run = functools.partial(FORWARD[route], x, weight, bias, eps=EPS, centered=exact.centered)
    spare = [None if t is None else torch.zeros_like(t) for t in (y, mean, rstd[0])]
    with pytest.MonkeyPatch.context() as patch:
        scratch = scratch_of(lambda: run(*spare), patch)
        assert bool(scratch) == (route == "split")
        with within([*reads, *scratch], [*written, *scratch]):
            run(y, mean, rstd[0])
    assert_within(y, exact.y, exact.y_error())
    assert_within(rstd[0], exact.rstd[:, 0], 2 * (exact.rstd_error + 3 * FLOAT32_EPS) * exact.rstd[:, 0])
    assert_guard_untouched(y, buffer)
    assert_guard_untouched(rstd, rstd_buffer)
    if exact.centered:
        assert_within(mean, exact.mean[:, 0], exact.sum_error * as64(values).abs().mean(-1))
        assert_guard_untouched(mean[None], mean_buffer)

    dx, buffer = guarded((rows, columns), dtype, device)
    dtypes = (torch.float32, torch.float32 if exact.centered else None)
    found = BACKWARD[route](x, weight, dy, mean, rstd[0], dx, dtypes)
    assert_guard_untouched(dx, buffer)
    for gradient, (value, error) in zip((dx, *found), exact.gradients(dy), strict=True):
        if gradient is not None:
            assert_within(gradient, value, error + FLOAT32_EPS * value.abs())
    assert exact.centered == (found[1] is not None)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", NAMES)
def test_views(name, view, device):
    x, dy = VIEWS[view](random(3, 5, 7, 9, device=device)), VIEWS[view](random(3, 5, 7, 9, device=device, seed=1))
    kept = x.clone()
    assert_gradients(name, x, *parameters(name, x.shape[-1], torch.float32, device), dy)
    assert torch.equal(x, kept)


@pytest.mark.parametrize("shape", [(5,), (1, 5), (2, 3, 5), (2, 1, 3, 5)], ids=str)
def test_any_number_of_dimensions(shape, device):
    x, dy = random(*shape, device=device), random(*shape, device=device, seed=1)
    assert_gradients("layer_norm", x, *parameters("layer_norm", 5, torch.float32, device), dy)


@pytest.mark.parametrize("columns", [50, 1000])
def test_gradients_that_are_not_contiguous(columns, device):
    x, _ = data(3, columns, torch.float32, device)
    weight, bias = parameters("layer_norm", columns, torch.float32, device)
    for dy in (
        random(columns, 3, device=device, seed=1).mT,
        random(1, columns, device=device, seed=1).expand(3, -1),
        random(3, 1, device=device, seed=1).expand(-1, columns),
        random(3, columns + 3, device=device, seed=1)[:, 2:-1],
        torch._neg_view(random(3, columns, device=device, seed=1)),
    ):
        assert_gradients("layer_norm", x, weight, bias, dy)


def test_parameters_that_are_not_contiguous(device):
    x, dy = data(4, 60, torch.float32, device)
    weight = random(120, device=device, seed=2)[::2]
    bias = random(1, device=device, seed=3).expand(60)
    assert_gradients("layer_norm", x, weight, bias, dy)
    assert_gradients("rms_norm", x, weight, None, dy)


def test_views_that_negate(device):
    x = torch._neg_view(random(4, 50, device=device))
    assert_norm(layer_norm(x), "layer_norm", x)
    weight = torch._neg_view(random(50, device=device, seed=2))
    assert_norm(rms_norm(x, weight, EPS), "rms_norm", x, weight)


@pytest.mark.parametrize(("weighted", "biased"), [(False, False), (False, True), (True, False), (True, True)])
def test_parameters_are_optional(weighted, biased, device, route):
    x, dy = data(5, 70, torch.float32, device)
    weight, bias = parameters("layer_norm", 70, torch.float32, device)
    weight, bias = weight if weighted else None, bias if biased else None
    assert_norm(layer_norm(x, weight, bias), "layer_norm", x, weight, bias)
    assert_gradients("layer_norm", x, weight, bias, dy)
    if not biased:
        assert_gradients("rms_norm", x, weight, None, dy)


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("wanted", [(True, False, False), (False, True, False), (False, False, True), (True, False, True)])
def test_gradients_of_some_inputs_only(wanted, long, device, request):
    """A frozen weight, as in fine-tuning, or an input that needs no gradient."""
    if long:
        request.getfixturevalue("short_limits")
    x, dy = data(5, 70, torch.float32, device)
    leaves = (x, *parameters("layer_norm", 70, torch.float32, device))
    exact = Exact("layer_norm", *leaves).gradients(dy)
    for leaf, needs_gradient in zip(leaves, wanted, strict=True):
        leaf.requires_grad_(needs_gradient)
    layer_norm(*leaves).backward(dy)
    for leaf, needs_gradient, (value, error) in zip(leaves, wanted, exact, strict=True):
        assert (leaf.grad is not None) == needs_gradient
        if needs_gradient:
            assert_within(leaf.grad, value, error + FLOAT32_EPS * value.abs())


@pytest.mark.parametrize(
    ("of_weight", "of_bias"), [(torch.float32, torch.float32), (torch.float32, torch.float16), (torch.float16, torch.float32)]
)
def test_parameters_of_another_dtype(of_weight, of_bias, device, route):
    x, dy = data(5, 70, torch.float16, device)
    weight, bias = random(70, dtype=of_weight, device=device, seed=2), random(70, dtype=of_bias, device=device, seed=3)
    assert_gradients("layer_norm", x, weight, bias, dy)
    assert_gradients("rms_norm", x, weight, None, dy)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_no_elements(name, shape, device):
    x = torch.empty(shape, device=device, requires_grad=True)
    weight = torch.ones(shape[-1:], device=device, requires_grad=True)
    y = call(name, x, weight)
    assert y.shape == x.shape and y.dtype == x.dtype
    assert call(name, x.detach()).shape == x.shape
    y.sum().backward()
    assert x.grad.shape == x.shape
    assert torch.equal(weight.grad, torch.zeros_like(weight))


def test_eps(device):
    x, dy = data(3, 40, torch.float32, device)
    for eps in (0, 1, 0.5, 1e-12):
        assert_gradients("layer_norm", x, None, None, dy, eps)
        assert_gradients("rms_norm", x, None, None, dy, eps)
    assert_norm(layer_norm(x), "layer_norm", x, eps=1e-5)
    small = x * 1e-4
    assert_norm(rms_norm(small), "rms_norm", small, eps=torch.finfo(torch.float32).eps)
    torch.testing.assert_close(rms_norm(small.half()).float(), F.rms_norm(small.half().float(), (40,)), rtol=2e-3, atol=0)


def test_rows_without_variance(device, route):
    x = torch.full((2, 100), 3.0, device=device)
    assert torch.equal(layer_norm(x), torch.zeros_like(x))
    assert_norm(layer_norm(x / 7), "layer_norm", x / 7)
    assert torch.equal(rms_norm(torch.zeros_like(x)), torch.zeros_like(x))


def test_a_mean_far_from_zero_costs_no_digits(device, route):
    """Where the variance came from the squares of the elements themselves, nothing would be left of it."""
    x = (random(3, 5000, device=device) * 64).round() / 64
    shifted = x + 4096  # exact
    found, expected = layer_norm(shifted).double(), F.layer_norm(x.double(), (5000,))
    assert (found - expected).abs().max() < 4096 * 2 * FLOAT32_EPS * 2


def test_an_outlier_in_front(device, route):
    x = random(2, 5000, device=device)
    x[:, 0] = 1e6
    assert_norm(layer_norm(x), "layer_norm", x)


@pytest.mark.parametrize("columns", [9, 100])
@pytest.mark.parametrize("name", NAMES)
def test_nan_and_infinity_as_in_the_formula(name, columns, device, route):
    x = random(6, columns, device=device)
    x[1, 2], x[2, -1], x[3, 0], x[4, 1] = NAN, INF, -INF, INF
    x[4, 3] = -INF
    # The formula, because PyTorch's own RMS norm of rows with an infinity differs between a CPU and a GPU.
    y, expected = call(name, x), {"layer_norm": layer_norm_reference, "rms_norm": rms_norm_reference}[name](x.double())
    assert torch.equal(y.isnan(), expected.isnan())
    assert_norm(y[[0, 5]], name, x[[0, 5]])


@pytest.mark.parametrize("columns", [33, 100])
def test_nan_in_a_gradient_stays_in_its_row(columns, device, short_limits):
    x, dy = data(3, columns, torch.float32, device)
    x.requires_grad_()
    dy[1, 7] = NAN
    weight = torch.ones(columns, device=device, requires_grad=True)
    dx, dweight = torch.autograd.grad(layer_norm(x, weight), (x, weight), dy)
    assert dx[1].isnan().all() and not dx[[0, 2]].isnan().any()
    assert dweight.isnan().nonzero().tolist() == [[7]]


def test_every_run_gives_the_same_bits(device, route):
    x, dy = data(8 if route == "split" else 50, 100, torch.float32, device)
    leaves = [t.requires_grad_() for t in (x, *parameters("layer_norm", 100, torch.float32, device))]
    first, second = (torch.autograd.grad(layer_norm(*leaves), leaves, dy) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(("rows", "columns", "split"), [(64, 100, False), (64, 1000, False), (8, 5000, True)])
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_no_larger_than_pytorch_s(name, rows, columns, split, device, request):
    if split:
        request.getfixturevalue("split_limits")
    x, dy = data(rows, columns, torch.float32, device)
    weight, bias = parameters(name, columns, torch.float32, device)
    leaves = [t.requires_grad_() for t in (x, weight, bias) if t is not None]
    exact = Exact(name, x, weight, bias)
    y, theirs = call(name, *leaves), peer(name, *leaves)
    pairs = [(y, theirs, exact.y)]
    gradients = torch.autograd.grad(y, leaves, dy), torch.autograd.grad(theirs, leaves, dy)
    pairs += list(zip(*gradients, (value for value, _ in exact.gradients(dy)), strict=False))
    for ours, other, value in pairs:
        error, allowed = (ours - value).norm(), (other - value).norm()
        assert error <= 1.1 * allowed + 1e-7 * value.norm(), f"{error:.3e} against {allowed:.3e}"


def test_has_no_graph_where_no_gradient_is_wanted(device):
    x, weight = random(4, device=device), random(4, device=device).requires_grad_()
    assert not layer_norm(x).requires_grad and not rms_norm(x).requires_grad
    assert layer_norm(x, None, weight).requires_grad and rms_norm(x, weight).requires_grad
    with torch.no_grad():
        assert not layer_norm(x, weight).requires_grad


def test_the_references_agree_with_pytorch(device):
    x, _ = data(5, 100, torch.float32, device)
    weight, bias = parameters("layer_norm", 100, torch.float32, device)
    for given in ((), (weight,), (weight, bias)):
        torch.testing.assert_close(layer_norm_reference(x, *given), F.layer_norm(x, (100,), *given), rtol=1e-5, atol=1e-6)
    for given in ((), (weight,)):
        torch.testing.assert_close(rms_norm_reference(x, *given), F.rms_norm(x, (100,), *given), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(layer_norm_reference(x, eps=0.5), F.layer_norm(x, (100,), eps=0.5))
    torch.testing.assert_close(rms_norm_reference(x, eps=0.5), F.rms_norm(x, (100,), eps=0.5))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_gradients_that_may_be_differentiated_again_are_as_exact(name, dtype, device):
    x, dy = data(5, 60, dtype, device)
    weight, bias = parameters(name, 60, dtype, device)
    assert_gradients(name, x, weight, bias, dy, create_graph=True)
    assert_gradients(name, x, None, bias, dy, create_graph=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_second_derivative_is_right(name, device):
    x, dy = data(3, 5, torch.float32, device)
    leaves = [t for t in (x, *parameters(name, 5, torch.float32, device)) if t is not None]

    def penalty(function, *leaves):
        leaves = [t.detach().requires_grad_() for t in leaves]
        y = function(name, *leaves)
        first = torch.autograd.grad((y * y * dy.to(y)).sum(), leaves, create_graph=True)
        return torch.autograd.grad(sum((g**2).sum() for g in first), leaves)

    for found, expected in zip(penalty(call, *leaves), penalty(peer, *(t.double() for t in leaves)), strict=True):
        torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("wrong", [torch.int32, torch.int64, torch.bool, torch.float64, torch.complex64], ids=str)
@pytest.mark.parametrize("which", ["x", "weight", "bias"])
def test_other_dtypes_are_refused(which, wrong, device):
    given = {name: torch.ones(3, device=device) for name in ("x", "weight", "bias")}
    given[which] = given[which].to(wrong)
    name = str(wrong).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"^{which}: expected dtype float32, float16 or bfloat16, got {name}$"):
        layer_norm(**given)


@pytest.mark.parametrize("function", [layer_norm, rms_norm])
def test_bad_arguments_are_refused(function, device):
    x = torch.ones(2, 3, device=device)
    with pytest.raises(TypeError, match=r"^x: expected a torch.Tensor, got list$"):
        function([1.0])
    with pytest.raises(ValueError, match=r"^x: expected at least one dimension, got shape \(\)$"):
        function(x[0, 0])
    with pytest.raises(TypeError, match=r"^weight: expected a torch.Tensor, got float$"):
        function(x, 1.0)
    for shape in ((2,), (1,), (), (1, 3), (2, 3)):
        with pytest.raises(ValueError, match=r"^weight: expected shape \(3,\), the last dimension of x, got \("):
            function(x, torch.ones(shape, device=device))
    with pytest.raises(ValueError, match=r"^weight: expected (device .*, the device of x, got|a CUDA tensor, got one on) meta"):
        function(x, torch.ones(3, device="meta"))
    for eps in ("1", True, (1,), torch.ones(1)):
        with pytest.raises(TypeError, match=rf"^eps: expected a number, got {type(eps).__name__}$"):
            function(x, eps=eps)


def test_a_bias_of_another_size_is_refused(device):
    x = torch.ones(2, 3, device=device)
    with pytest.raises(ValueError, match=r"^bias: expected shape \(3,\), the last dimension of x, got \(2,\)$"):
        layer_norm(x, None, torch.ones(2, device=device))


WIDE = [100, 500, 5000, 8192, 16_384, 50_257, 262_144]
ON_THE_GPU = [("layer_norm", torch.bfloat16, n) for n in WIDE]
ON_THE_GPU += [("layer_norm", torch.float32, n) for n in (2048, 8192, 16_384, 131_071)]
ON_THE_GPU += [("rms_norm", torch.float16, n) for n in (128, 4096, 16_384)]
ON_THE_GPU = [(*case, 97 if case[2] > 2048 else 2999) for case in ON_THE_GPU]
FEW = [("layer_norm", n, rows) for n, rows in ((32_776, 64), (50_257, 33), (131_071, 5), (262_144, 64), (2**20 + 1, 2))]
FEW += [("rms_norm", 50_257, 3), ("rms_norm", 262_144, 64)]
ON_THE_GPU += [(name, dtype, *shape) for name, *shape in FEW for dtype in (torch.float32, torch.bfloat16)]


@needs("cuda")
@pytest.mark.parametrize(("name", "dtype", "columns", "rows"), ON_THE_GPU)
def test_on_the_gpu_at_full_width(name, dtype, columns, rows, device):
    x, dy = data(rows, columns, dtype, device)
    assert_gradients(name, x, *parameters(name, columns, dtype, device), dy)


@needs("cuda")
@pytest.mark.parametrize(("columns", "few"), [(256, 0), (65_536, 0), (65_536, 2**31)])
def test_more_than_two_to_the_31_elements(columns, few, device, monkeypatch):
    """Long rows on the route of many and, as if so many were few, on the route that splits them."""
    need_free_memory(60)
    monkeypatch.setattr("kernels.norm.norm.NORM_SPLIT", ((few, NORM_SPLIT[0][1]),))
    rows, dtype = 2**31 // columns + 5, torch.bfloat16
    x = torch.randint(-8, 8, (rows, columns), device=device, dtype=dtype)
    leaves = [t.requires_grad_() for t in (x, *parameters("layer_norm", columns, dtype, device))]
    y = layer_norm(*leaves)
    dx, dweight, dbias = torch.autograd.grad(y, leaves, x.detach())
    assert not dweight.isnan().any() and not dbias.isnan().any()
    for part in (slice(0, 3), slice(rows // 2, rows // 2 + 3), slice(-3, None)):
        exact = Exact("layer_norm", x[part], *leaves[1:])
        assert_within(y[part].detach(), exact.y, exact.y_error())
        assert_within(dx[part], *exact.gradients(x[part])[0])
