"""The recorded runs of *Masking*: blocks that stick out of a vector, loaded in three ways, and tiles that stick out too."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.masking.even import even_negate_kernel
from snippets.masking.largest import block_largest_kernel
from snippets.masking.split import split_negate_kernel
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


def one_block(kernel: Any, *sizes: int) -> dict[str, Any]:
    """Five numbers in a block of eight."""
    x = torch.tensor([-3.0, -1.0, -2.0, -5.0, -4.0])
    out = torch.full_like(x, float("nan"))
    return {"kernel": kernel, "launch": lambda: kernel[(1,)](x, out, *sizes, BLOCK=8), "tensors": {"x": x, "out": out}}


def other() -> dict[str, Any]:
    return one_block(block_largest_kernel, 5)


def no_other() -> dict[str, Any]:
    return one_block(split_negate_kernel, 5)


def unmasked() -> dict[str, Any]:
    return one_block(even_negate_kernel)


RUNS = {"largest": largest, "tile": tile, "other": other, "no_other": no_other, "unmasked": unmasked}
