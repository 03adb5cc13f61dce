"""Products in float64, and what sums in float32 and one rounding may leave them off by."""

import torch

from tests.kernels.activation_numerics import rounded, slope_64, value_64
from tests.kernels.numerics import FLOAT32_EPS, assert_within

KINDS_OF = {"gelu": "none", "gelu_tanh": "tanh", "silu": "silu"}
ACTIVATED = (None, "relu", *KINDS_OF)
TF32_STEP = 2.0**-10


def sums_64(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None, product_step: float = 0.0) -> tuple:
    """a @ b + bias in float64, and the bound on its error: tensor cores may cut off where they add, a step a term."""
    a, b = a.double(), b.double()
    z, sizes = a @ b, a.abs() @ b.abs()
    if bias is not None:
        z, sizes = z + bias.double(), sizes + bias.double().abs()
    return z, (FLOAT32_EPS * (a.shape[1] + 4) + product_step) * sizes


def activated_64(z: torch.Tensor, error: torch.Tensor, activation: str | None) -> tuple:
    """act(z) in float64, and the bound that an error of z makes of it."""
    if activation is None:
        return z, error
    if activation == "relu":
        return z.relu(), error
    y, own = value_64(z, KINDS_OF[activation])
    # No slope is above 1.13.
    return y, own + 1.13 * error


def assert_matmul(c, a, b, bias=None, activation=None, product_step: float = 0.0) -> None:
    expected, error = activated_64(*sums_64(a, b, bias, product_step), activation)
    assert_within(c, expected, rounded(expected, error, c.dtype))


def slopes_64(z: torch.Tensor, activation: str | None) -> torch.Tensor:
    if activation is None:
        return torch.ones_like(z)
    return (z > 0).double() if activation == "relu" else slope_64(z, KINDS_OF[activation])[0]
