"""The recorded runs of *LayerNorm and RMSNorm*: one row of sums a program, and the two ways to the gradients of the weight."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.norms.atomic import atomic_step_kernel
from snippets.norms.partial_sums import partial_sums_kernel
from snippets.norms.stay import staying_step_kernel


def partial_sums() -> dict[str, Any]:
    dy = quarters(5, 6)
    partials = torch.full((2, 6), float("nan"))
    return {
        "kernel": partial_sums_kernel,
        "launch": lambda: partial_sums_kernel[(2,)](dy, partials, 5, 6, BLOCK=8),
        "tensors": {"dy": dy, "partials": partials},
    }


def step(kernel: Any, programs: int, sums: int, *sizes: int) -> dict[str, Any]:
    """A backward pass over five rows of six, with so many rows of sums."""
    x, dy = quarters(2, 5, 6)
    weight = 1 + quarters(6) / 4
    mean, rstd = x.mean(1), torch.rsqrt(x.var(1, correction=0) + 1e-5)
    dx = torch.full_like(x, float("nan"))
    dweight, dbias = torch.zeros(sums, 6), torch.zeros(sums, 6)
    tensors = {"x": x, "weight": weight, "dy": dy, "mean": mean, "rstd": rstd, "dx": dx, "dweight": dweight, "dbias": dbias}
    return {
        "kernel": kernel,
        "launch": lambda: kernel[(programs,)](*tensors.values(), *sizes, 6, BLOCK=8),
        "tensors": tensors,
    }


def atomic() -> dict[str, Any]:
    return step(atomic_step_kernel, 5, 1)


def staying() -> dict[str, Any]:
    return step(staying_step_kernel, 2, 2, 5)


RUNS = {"partial_sums": partial_sums, "atomic": atomic, "staying": staying}
