"""The recorded runs of *Masking*: a vector whose last block is not full, and tiles that stick out of a matrix."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.masking.largest import block_largest_kernel
from snippets.masking.tiles import scale_tile_kernel


def tile() -> dict[str, Any]:
    x = quarters(6, 10)
    out = torch.full_like(x, float("nan"))
    return {
        "kernel": scale_tile_kernel,
        "launch": lambda: scale_tile_kernel[(2, 3)](x, out, 3.0, 6, 10, BLOCK_M=4, BLOCK_N=4),
        "tensors": {"x": x, "out": out},
    }


def largest() -> dict[str, Any]:
    x = -1 - quarters(10).abs()  # below zero, so that a wrong filler would win
    out = torch.full((3,), float("nan"))
    return {
        "kernel": block_largest_kernel,
        "launch": lambda: block_largest_kernel[(3,)](x, out, 10, BLOCK=4),
        "tensors": {"x": x, "out": out},
    }


RUNS = {"largest": largest, "tile": tile}
