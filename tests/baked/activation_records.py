"""Synthetic records for the charts of *Dropout* and *Gated activations*."""

from collections.abc import Callable
from typing import Any

from scripts.drawing.chapters.activations import DROPOUT, GATED, GELU

Record = dict[str, Any]
SLOWNESS = {"blockwise": 1.0, "eager": 1.7, "one_each": 2.9, "compile": 1.2, "compile_max": 1.1, "liger": 1.02}


def records_of_activations(synthetic: Callable[..., Record]) -> list[Record]:
    names = {"dropout/benchmark": DROPOUT, "gated_activations/benchmark": GATED, "gated_activations/benchmark_gelu": GELU}
    found = []
    for number, (name, panels) in enumerate(names.items()):
        rows = []
        for place, case in enumerate(case for _, cases in panels for case in cases):
            op, direction, shape, dtype, _ = case
            for turn, (implementation, factor) in enumerate(SLOWNESS.items()):
                if implementation == "one_each" and number or implementation == "liger" and number != 1:
                    continue
                ms = 0.1 + 0.013 * number + 0.07 * place + 0.031 * turn + 0.2 * factor
                times = [round(ms * part, 6) for part in (0.97, 1, 1.04)]
                where = {"op": op, "direction": direction, "shape": shape, "dtype": dtype, "implementation": implementation}
                rows.append(where | {"timing": "call", "ms": times, "bytes": 10**9, "flops": None, "configuration": None})
        found.append(synthetic(name, measurements=rows))
    return found
