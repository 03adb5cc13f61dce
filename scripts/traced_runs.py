"""The runs that the pages' pictures replay: small inputs, fixed seeds, every kernel as the library has it.

Each function returns the arguments of `scripts.recorder.record`.
"""

from typing import Any

import torch

from kernels.add import add_kernel
from kernels.softmax import softmax_kernel


def quarters(*shape: int) -> torch.Tensor:
    """Random multiples of 1/4: short to print, and exact under addition."""
    return torch.randint(-16, 17, shape, generator=torch.Generator().manual_seed(0)) / 4


def add() -> dict[str, Any]:
    x, y = quarters(2, 1000).unbind()
    out = torch.full_like(x, float("nan"))
    return {
        "kernel": add_kernel,
        "launch": lambda: add_kernel[(4,)](x, y, out, 1000, BLOCK=256),
        "tensors": {"x": x, "y": y, "out": out},
    }


def softmax_row() -> dict[str, Any]:
    x = quarters(4, 13)
    y = torch.full_like(x, float("nan"))
    return {
        "kernel": softmax_kernel,
        "launch": lambda: softmax_kernel[(4,)](x, y, x.stride(0), y.stride(0), 13, BLOCK=16),
        "tensors": {"x": x, "y": y},
    }


RUNS = {"first_kernel/add": add, "fused_softmax/row": softmax_row}
