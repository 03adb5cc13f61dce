"""The recorded run of *The block model*."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.block_model.tile import double_matrix_kernel


def tile() -> dict[str, Any]:
    x = quarters(8, 16)
    out = torch.full_like(x, float("nan"))
    return {
        "kernel": double_matrix_kernel,
        "launch": lambda: double_matrix_kernel[(2, 2)](x, out, 16, BLOCK_M=4, BLOCK_N=8),
        "tensors": {"x": x, "out": out},
    }


RUNS = {"tile": tile}
