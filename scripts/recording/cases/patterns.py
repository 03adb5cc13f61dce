"""The recorded runs of *Patterns to start from*."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.patterns.row_sum import row_sum_kernel
from snippets.patterns.transpose import transpose_kernel


def row_sum() -> dict[str, Any]:
    x = quarters(3, 13)
    out = torch.full((3,), float("nan"))
    return {
        "kernel": row_sum_kernel,
        "launch": lambda: row_sum_kernel[(3,)](x, out, x.stride(0), 13, BLOCK=4),
        "tensors": {"x": x, "out": out},
    }


def transpose() -> dict[str, Any]:
    x = quarters(6, 10)
    out = torch.full((10, 6), float("nan"))
    return {
        "kernel": transpose_kernel,
        "launch": lambda: transpose_kernel[(2, 2)](x, out, 6, 10, 10, 6, BLOCK_M=4, BLOCK_N=8),
        "tensors": {"x": x, "out": out},
    }


RUNS = {"row_sum": row_sum, "transpose": transpose}
