"""SiLU and GELU and their derivatives in float64, each with what float32 arithmetic may leave it off by."""

import math

import torch

from tests.kernels.numerics import FLOAT32_EPS, atol_of, relative_step

KINDS = ("silu", "none", "tanh")
# A GPU's exponential gives zero where the result would be below the smallest normal number; that zero is then multiplied.
FLUSHED = torch.finfo(torch.float32).tiny
Pair = tuple[torch.Tensor, torch.Tensor]


def sigmoid_argument(x: torch.Tensor, kind: str) -> Pair:
    """z where the activation is x times the sigmoid of z, and dz/dx."""
    if kind == "silu":
        return x, torch.ones_like(x)
    root = math.sqrt(2 / math.pi)
    return 2 * root * (x + 0.044715 * x**3), 2 * root * (1 + 3 * 0.044715 * x**2)


def value_64(x: torch.Tensor, kind: str) -> Pair:
    """The activation, and what it may be off by."""
    x = x.double()
    if kind == "none":
        y = torch.nn.functional.gelu(x)
        # The error function errs by two steps, beside a one that is added to it.
        return y, FLOAT32_EPS * (1.5 * x.abs() + 3 * y.abs())
    z, _ = sigmoid_argument(x, kind)
    y = x * torch.sigmoid(z)
    # The exponent errs by three steps relative to itself, which exp turns into an error that grows with it.
    return y, FLOAT32_EPS * (6 + 3 * z.clamp(-100, 0).abs()) * y.abs() + FLUSHED * x.abs().clamp(max=1e4)


def slope_64(x: torch.Tensor, kind: str) -> Pair:
    """The derivative, and what it may be off by."""
    x = x.double()
    if kind == "none":
        share = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
        bend = x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        return share + bend, FLOAT32_EPS * (2 + (5 + 2 * (x * x).clamp(max=200)) * bend.abs())
    z, growth = sigmoid_argument(x, kind)
    share = torch.sigmoid(z)
    bend = x * share * torch.sigmoid(-z) * growth
    error = FLOAT32_EPS * (8 + 3 * z.abs().clamp(max=100))
    flushed = FLUSHED * (1 + (x.abs() * growth).clamp(max=1e4))
    return share + bend, error * (share + bend.abs()) + flushed


def rounded(expected: torch.Tensor, error: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The bound after one rounding to `dtype`, which a large number may not survive but as infinity."""
    return error + relative_step(dtype) * (expected.abs() + error) + atol_of(dtype)
