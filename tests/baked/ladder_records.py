"""Synthetic records for the charts of the softmax ladder and of *Autograd*."""

import math
from collections.abc import Callable
from typing import Any

from scripts.drawing.chapters.softmax_ladder import STEPS

Record = dict[str, Any]
SHAPES = ("16384x4096", "1048576x64", "16384x4096", "512x131072", "32x262144")


def records_of_ladder(synthetic: Callable[..., Record]) -> list[Record]:
    found = []
    for number, ((name, (_, labels)), shape) in enumerate(zip(STEPS.items(), SHAPES, strict=True)):
        rows = []
        for place, implementation in enumerate(labels):
            where = {"op": "softmax_ladder", "direction": "fwd", "shape": shape, "dtype": "bf16", "timing": "call"}
            times = [round((0.31 + 0.07 * number + 0.11 * place) * part, 6) for part in (0.97, 1, 1.04)]
            rows.append({**where, "implementation": implementation, "ms": times, "bytes": 10**9, "flops": None})
        found.append(synthetic(f"softmax_ladder/{name}", measurements=rows))
    return [*found, losses(synthetic)]


def losses(synthetic: Callable[..., Record]) -> Record:
    exact = [1.5 + 2 * math.exp(-step / 80) for step in range(200)]
    curves = {"eager": 1e-5, "blockwise": 2e-5, "float64": 0.0}
    figures = {name: [value + off * (at + 1) for at, value in enumerate(exact)] for name, off in curves.items()}
    return synthetic("autograd/train", figures=figures)
