"""Which of the tiles in `kernels.attention.configs` a call is served with, and over how many programs its keys are split."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch

from kernels.attention.configs import (
    ATTENTION_TILES,
    GLUON_BACKWARD_NAMES,
    GLUON_BACKWARD_TILES,
    GLUON_FORWARD_TILES,
    GLUON_NAMES,
    SPLIT_NAMES,
    SPLIT_TILES,
    TILE_NAMES,
    Tiles,
)
from kernels.common.arguments import INTERPRETED
from kernels.common.sizes import cdiv, next_power_of_2
from kernels.matmul.plan import matmul_family


@dataclass(frozen=True)
class AttentionPlan:
    """The launches that serve a call: `forward`, or `split` over `parts` programs a head; and backward `keys` and `queries`.

    Where there is a `gluon_forward` or a `gluon_backward`, that is taken instead, if descriptors can load the tensors.
    """

    forward: dict[str, Any]
    keys: dict[str, Any]
    queries: dict[str, Any]
    split: dict[str, Any]
    parts: int
    gluon_forward: dict[str, Any] | None = None
    gluon_backward: dict[str, Any] | None = None


# As many queries, with those of all heads that share the keys, are few, and as many keys are worth sharing out.
FEW_QUERIES = 64
MANY_KEYS = 512
# The least that a program is given of a head's keys.
LEAST_PART = 256
# The least pairs of a query and a key in a head for which the kernels in Gluon are worth their start, by the width of a head.
GLUON_PAIRS = {64: 2**24, 128: 2**20, 256: 2**18}


def tile_for(tiles: Tiles, names: tuple[str, ...], width: int) -> dict[str, Any]:
    return dict(zip(names, next(tile for most, tile in tiles.items() if width <= most), strict=True))


@lru_cache(maxsize=4096)
def choose_attention_plan(
    family: str, processors: int, kind: str, head: int, n_outer: int, rows: int, q_length: int, k_length: int, packed: bool
) -> AttentionPlan:
    """A plan for `n_outer` heads of keys, each shared by `rows` queries, `q_length` of each head."""
    width = max(16, next_power_of_2(head))
    tiles = ATTENTION_TILES[family][kind]
    split, parts = tile_for(SPLIT_TILES[kind], SPLIT_NAMES, width), 0
    if not packed and rows <= FEW_QUERIES and k_length >= MANY_KEYS:
        split["BLOCK_M"] = min(split["BLOCK_M"], max(16, next_power_of_2(rows)))
        programs = n_outer * cdiv(rows, split["BLOCK_M"])
        parts = max(1, min(cdiv(2 * processors, programs), k_length // LEAST_PART))
    in_gluon = family == "sm_90" and kind == "half" and not packed and not parts
    in_gluon = in_gluon and q_length * k_length >= GLUON_PAIRS.get(head, 2**62)
    gluon_forward, gluon_backward = None, None
    if in_gluon and head in GLUON_FORWARD_TILES:
        gluon_forward = dict(zip(GLUON_NAMES, GLUON_FORWARD_TILES[head], strict=True)) | {"programs": processors}
    if in_gluon and head in GLUON_BACKWARD_TILES:
        gluon_backward = dict(zip(GLUON_BACKWARD_NAMES, GLUON_BACKWARD_TILES[head], strict=True))
    return AttentionPlan(
        tile_for(tiles["forward"], TILE_NAMES, width),
        tile_for(tiles["keys"], TILE_NAMES, width),
        tile_for(tiles["queries"], TILE_NAMES, width),
        split,
        parts,
        gluon_forward,
        gluon_backward,
    )


def attention_plan(q: torch.Tensor, k: torch.Tensor, packed: bool) -> AttentionPlan:
    """Say how attention of these queries and keys is computed, whose shapes are [B, H, L, D] and [B, K, S, D]."""
    family, processors = matmul_family(q.device)
    kind = "ieee" if q.dtype == torch.float32 else "half"
    q_length, rows = q.shape[2], q.shape[1] // k.shape[1] * q.shape[2]
    outer = k.shape[0] * k.shape[1]
    plan = choose_attention_plan(family, processors, kind, q.shape[3], outer, rows, q_length, k.shape[2], packed)
    # Triton's interpreter does not run Gluon.
    return replace(plan, gluon_forward=None, gluon_backward=None) if INTERPRETED else plan
