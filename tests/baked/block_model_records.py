"""Synthetic records for the charts of *The block model*."""

import random
from collections.abc import Callable
from typing import Any


def records_of_block_model(synthetic: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    return [warps(synthetic), order(synthetic)]


def warps(synthetic: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    rows = []
    for place, (block, number) in enumerate((block, number) for block in (64, 256, 1024, 4096) for number in (1, 2, 4, 8)):
        ms = 0.15 + 3 / block + number / 100 + place / 997
        row = {"op": "double", "direction": "fwd", "shape": "67108864", "dtype": "fp32", "timing": "call"}
        row |= {"implementation": f"block_{block}_warps_{number}", "bytes": 8 * 2**26, "flops": None, "configuration": None}
        rows.append(row | {"ms": [round(ms * part, 6) for part in (0.97, 1, 1.04)]})
    return synthetic("block_model/warps", measurements=rows)


def order(synthetic: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    def shuffled(seed: int) -> list[int]:
        ids, chance = list(range(256)), random.Random(seed)
        return sorted(ids, key=lambda pid: pid + chance.randint(0, 40))

    figures = {"tickets": shuffled(1), "before": shuffled(2), "places": [pid % 132 for pid in range(256)]}
    return synthetic("block_model/order", figures=figures)
