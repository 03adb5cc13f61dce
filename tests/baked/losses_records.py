"""Synthetic records for the charts of *Cross-entropy* and *Rotary embedding*."""

from collections.abc import Callable, Iterator
from typing import Any

SLOWNESS = {"blockwise": 1.0, "eager": 2.5, "compile": 1.4, "compile_max": 1.3, "liger": 0.9, "flash_triton": 1.2}
CASES = {
    "cross_entropy": (("fwd", "fwdbwd"), {"8192x4096": 2**26, "4096x32000": 2**28, "2048x262144": 2**30}),
    "rope": (("fwd", "bwd"), {"B1S1024H32/8D128": 2**24, "B4S8192H32/8D128": 2**29}),
}


def records_of_losses(synthetic: Callable[..., Any], measured: Callable[..., Iterator[Any]]) -> list[dict[str, Any]]:
    found = []
    for op, (directions, shapes) in CASES.items():
        rows: list[dict[str, Any]] = []
        for direction in directions:
            for shape, moved in shapes.items():
                known = {name: slow for name, slow in SLOWNESS.items() if (name, direction) != ("flash_triton", "bwd")}
                rows.extend(measured(op, direction, shape, "bf16", moved, known))
        found.append(synthetic(f"{op}/benchmark", measurements=rows))
    return found
