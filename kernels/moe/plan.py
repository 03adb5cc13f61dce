"""With which tiles a mixture of experts is computed, and why. Their heights were measured on an H200, by snippets/moe/heights.py.

How many rows an expert gets is known on the GPU alone. The plan goes by what an even routing would give each: a tile much taller
than that multiplies nothings, and one much lower reads an expert's weights more often than it has to. Of the two the second
costs more: half a tile of nothings is cheaper than to read the weights twice.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch

from kernels.common.sizes import cdiv
from kernels.matmul.plan import matmul_family, matmul_kind

MOE_NAMES = ("BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages")
# For each height of a tile the rest of it, for the product with two weights and for that with one.
MOE_TILES: dict[str, dict[str, dict[int, tuple[tuple[int, ...], tuple[int, ...]]]]] = {
    "sm_90": {
        "half": {
            16: ((64, 128, 8, 4, 4), (128, 128, 8, 4, 4)),
            32: ((64, 128, 8, 4, 4), (128, 128, 8, 4, 4)),
            64: ((128, 64, 8, 4, 4), (128, 64, 8, 4, 4)),
            128: ((128, 64, 8, 8, 4), (256, 64, 8, 8, 3)),
        },
        "tf32": {16: ((64, 64, 8, 4, 3), (128, 64, 8, 4, 3)), 64: ((64, 32, 8, 4, 3), (128, 32, 8, 4, 4))},
        "ieee": {16: ((32, 32, 8, 4, 3), (64, 32, 8, 4, 3)), 64: ((32, 16, 8, 4, 3), (64, 16, 8, 4, 3))},
    },
    "default": {
        "half": {
            16: ((64, 64, 8, 4, 3), (64, 128, 8, 4, 3)),
            32: ((64, 64, 8, 4, 3), (64, 128, 8, 4, 3)),
            64: ((64, 32, 8, 4, 4), (128, 32, 8, 4, 4)),
            128: ((64, 32, 8, 8, 4), (128, 32, 8, 8, 4)),
        },
        "tf32": {16: ((64, 32, 8, 4, 3), (64, 64, 8, 4, 3)), 64: ((64, 32, 8, 4, 3), (64, 32, 8, 4, 3))},
        "ieee": {16: ((32, 32, 8, 4, 3), (64, 32, 8, 4, 3)), 64: ((32, 16, 8, 4, 3), (64, 16, 8, 4, 3))},
    },
}
# An even share of the rows has to fill so much of a tile's height.
TALLER = 0.5
# Tiles up to this height wait for memory: they are made narrow where there are few, and each has a program of its own.
LOW = 32
# From so many products on, the host's time for making descriptors is a small share.
WORTH_TALL = 2**31


@dataclass(frozen=True)
class MoePlan:
    """The tiles of both products, of one height, with the programs that walk over them; and why, in words."""

    block_m: int
    first: dict[str, int]
    second: dict[str, int]
    reason: str


def moe_configuration(
    block_m: int, tile: tuple[int, ...], n_row_tiles: int, n_columns: int, processors: int
) -> dict[str, int]:
    """How one of the two products is launched, where so many tiles of rows are expected."""
    configuration = {"BLOCK_M": block_m} | dict(zip(MOE_NAMES, tile, strict=True))
    if block_m > LOW:
        # Programs of four warps share a multiprocessor.
        return configuration | {"programs": processors * (8 // configuration["num_warps"])}
    while configuration["BLOCK_N"] > 32 and n_row_tiles * cdiv(n_columns, configuration["BLOCK_N"]) < 2 * processors:
        configuration["BLOCK_N"] //= 2
    return configuration | {"programs": 2**30}


@lru_cache(maxsize=4096)
def choose_moe_plan(
    n_pairs: int, n_experts: int, width: int, hidden: int, kind: str, family: str, processors: int
) -> MoePlan:
    """The plan for so many pairs of rows of `width` numbers, whose experts have `hidden` units."""
    # Blackwell's shared memory is as large as Hopper's; all others have the small tiles.
    tiles = MOE_TILES["sm_90" if family in ("sm_90", "sm_100") else "default"][kind]
    active = min(n_experts, n_pairs)
    share = cdiv(n_pairs, active)
    block_m = max((height for height in tiles if height <= share / TALLER), default=min(tiles))
    n_row_tiles = active * cdiv(share, block_m)
    first, second = (
        moe_configuration(block_m, tile, n_row_tiles, n_columns, processors)
        for tile, n_columns in zip(tiles[block_m], (hidden, width), strict=True)
    )
    # On Hopper alone the copy engine serves: elsewhere descriptors are emulated, or were not tried.
    tall = family == "sm_90" and kind == "half" and block_m > LOW and n_pairs * width * hidden >= WORTH_TALL
    reason = f"An even routing gives an expert {share} rows: tiles of {block_m}, on {processors} multiprocessors."
    return MoePlan(block_m, first | {"DESCRIPTORS": tall}, second | {"DESCRIPTORS": tall}, reason)


def moe_plan(x: torch.Tensor, n_experts: int, hidden: int, k: int) -> MoePlan:
    """Say with which tiles the rows of `x` go through k of the experts each, and why."""
    family, processors = matmul_family(x.device)
    return choose_moe_plan(x.shape[0] * k, n_experts, x.shape[1], hidden, matmul_kind(x.dtype), family, processors)
