"""Which of the tiles in `kernels.attention.configs` a call is served with, and over how many programs its keys are split."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from kernels.attention.configs import ATTENTION_TILES, SPLIT_NAMES, SPLIT_TILES, TILE_NAMES, Tiles
from kernels.common.sizes import cdiv, next_power_of_2
from kernels.matmul.plan import matmul_family


@dataclass(frozen=True)
class AttentionPlan:
    """The launches that serve a call: `forward`, or `split` over `parts` programs a head; and backward `keys` and `queries`."""

    forward: dict[str, Any]
    keys: dict[str, Any]
    queries: dict[str, Any]
    split: dict[str, Any]
    parts: int


# As many queries, with those of all heads that share the keys, are few, and as many keys are worth sharing out.
FEW_QUERIES = 64
MANY_KEYS = 512
# The least that a program is given of a head's keys.
LEAST_PART = 256


def tile_for(tiles: Tiles, names: tuple[str, ...], width: int) -> dict[str, Any]:
    return dict(zip(names, next(tile for most, tile in tiles.items() if width <= most), strict=True))


@lru_cache(maxsize=4096)
def choose_attention_plan(
    family: str, processors: int, kind: str, width: int, n_outer: int, rows: int, k_length: int, packed: bool
) -> AttentionPlan:
    """A plan for `n_outer` heads of keys, each shared by `rows` queries."""
    tiles = ATTENTION_TILES[family][kind]
    split, parts = tile_for(SPLIT_TILES[kind], SPLIT_NAMES, width), 0
    if not packed and rows <= FEW_QUERIES and k_length >= MANY_KEYS:
        split["BLOCK_M"] = min(split["BLOCK_M"], max(16, next_power_of_2(rows)))
        programs = n_outer * cdiv(rows, split["BLOCK_M"])
        parts = max(1, min(cdiv(2 * processors, programs), k_length // LEAST_PART))
    return AttentionPlan(
        tile_for(tiles["forward"], TILE_NAMES, width),
        tile_for(tiles["keys"], TILE_NAMES, width),
        tile_for(tiles["queries"], TILE_NAMES, width),
        split,
        parts,
    )


def attention_plan(q: torch.Tensor, k: torch.Tensor, packed: bool) -> AttentionPlan:
    """Say how attention of these queries and keys is computed, whose shapes are [B, H, L, D] and [B, K, S, D]."""
    family, processors = matmul_family(q.device)
    kind = "ieee" if q.dtype == torch.float32 else "half"
    width = max(16, next_power_of_2(q.shape[3]))
    rows = q.shape[1] // k.shape[1] * q.shape[2]
    return choose_attention_plan(family, processors, kind, width, k.shape[0] * k.shape[1], rows, k.shape[2], packed)
