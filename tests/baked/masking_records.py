"""A synthetic record for the chart of *Masking*."""

from collections.abc import Callable
from typing import Any


def records_of_masking(synthetic: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for dtype, size, n in (("fp32", 4, 2**24), ("fp32", 4, 2**24 + 1), ("bf16", 2, 2**28), ("bf16", 2, 2**28 + 1)):
        slowness = {"masked": 1.7 if n % 16 else 1.0, "split": 1.01, "eager": 1.1} | ({} if n % 16 else {"maskless": 0.99})
        for way, factor in slowness.items():
            ms = factor * (2 * size * n + n % 16) / 3.7e9
            row = {"op": "negate", "direction": "fwd", "shape": str(n), "dtype": dtype, "implementation": way, "timing": "call"}
            row |= {"ms": [round(ms * part, 6) for part in (0.97, 1, 1.04)], "bytes": 2 * size * n}
            rows.append(row | {"flops": None, "configuration": None})
    return [synthetic("masking/benchmark", measurements=rows)]
