"""The recorded run of *Grid math*."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.grid_math.tiles import double_tile_kernel


def tile() -> dict[str, Any]:
    x = quarters(10, 14)
    out = torch.full_like(x, float("nan"))
    sizes = (*x.shape, *x.stride(), *out.stride())
    return {
        "kernel": double_tile_kernel,
        "launch": lambda: double_tile_kernel[(3, 2)](x, out, *sizes, BLOCK_M=4, BLOCK_N=8),
        "tensors": {"x": x, "out": out},
    }


RUNS = {"tile": tile}
