"""The recorded runs of *Grid math*: tiles of two matrices, one of them as in the lesson."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.grid_math.tiles import double_tile_kernel


def doubled(shape: tuple[int, int], grid: tuple[int, int], **blocks: int) -> dict[str, Any]:
    x = quarters(*shape)
    out = torch.full_like(x, float("nan"))
    sizes = (*x.shape, *x.stride(), *out.stride())
    return {
        "kernel": double_tile_kernel,
        "launch": lambda: double_tile_kernel[grid](x, out, *sizes, **blocks),
        "tensors": {"x": x, "out": out},
    }


def tile() -> dict[str, Any]:
    return doubled((10, 14), (3, 2), BLOCK_M=4, BLOCK_N=8)


def broadcast() -> dict[str, Any]:
    return doubled((10, 8), (3, 2), BLOCK_M=4, BLOCK_N=4)


RUNS = {"tile": tile, "broadcast": broadcast}
