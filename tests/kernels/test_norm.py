"""kernels.layer_norm and kernels.rms_norm against float64: whole rows on chip, long rows, and both ways back."""

import contextlib
import math

import pytest
import torch
import torch.nn.functional as F

from kernels import layer_norm, norm, rms_norm
from kernels.layer_norm import layer_norm_reference
from kernels.norm_backward import norm_tile_backward
from kernels.norm_backward_long import norm_long_backward
from kernels.norm_forward import norm_tile
from kernels.norm_forward_long import norm_long
from kernels.rms_norm import rms_norm_reference
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
FORWARD = {"tile": norm_tile, "long": norm_long}
BACKWARD = {"tile": norm_tile_backward, "long": norm_long_backward}
EPS = 1e-5


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
    """Send rows of more than 64 elements to the kernels for long ones."""
    monkeypatch.setattr(norm, "NORM_FORWARD_ROW", 64)
    monkeypatch.setattr(norm, "NORM_BACKWARD_ROW", 64)


ROWS_AND_COLUMNS = [(1, 1), (9, 1), (1, 2), (600, 3), (37, 31), (33, 64), (10, 100), (3, 768), (5, 1000), (4, 1024), (2, 4097)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("rows", "columns"), [*ROWS_AND_COLUMNS, (2, 8192)])
@pytest.mark.parametrize("name", NAMES)
def test_rows_on_chip(name, rows, columns, dtype, device):
    x, dy = data(rows, columns, dtype, device)
    kept = x.clone()
    assert_gradients(name, x, *parameters(name, columns, dtype, device), dy)
    assert torch.equal(x, kept)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("rows", "columns"), [(1, 65), (2, 4096), (70, 130), (3, 5000)])
@pytest.mark.parametrize("name", NAMES)
def test_long_rows_quick(name, rows, columns, dtype, device, short_limits):
    x, dy = data(rows, columns, dtype, device)
    assert_gradients(name, x, *parameters(name, columns, dtype, device), dy)
