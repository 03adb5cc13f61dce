"""The recorded run of *Masking*: tiles that stick out of a matrix below, on the right, and in both directions."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.masking.tiles import scale_tile_kernel


def tile() -> dict[str, Any]:
    x = quarters(6, 10)
    out = torch.full_like(x, float("nan"))
    return {
        "kernel": scale_tile_kernel,
        "launch": lambda: scale_tile_kernel[(2, 3)](x, out, 3.0, 6, 10, BLOCK_M=4, BLOCK_N=4),
        "tensors": {"x": x, "out": out},
    }


RUNS = {"tile": tile}
