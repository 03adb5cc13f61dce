"""Synthetic records for the charts of *Why write a kernel*."""

from collections.abc import Callable
from typing import Any

Record = dict[str, Any]


def row(op: str, shape: str, name: str, ms: float, moved: int) -> Record:
    where = {"op": op, "direction": "fwd", "shape": shape, "dtype": "bf16", "implementation": name, "timing": "call"}
    times = [round(ms * part, 6) for part in (0.97, 1, 1.04)]
    return where | {"ms": times, "bytes": moved, "flops": None, "configuration": None}


def records_of_why_kernels(synthetic: Callable[..., Record]) -> list[Record]:
    slowness = {"eager": 1.32, "compile": 1.44, "blockwise": 1.17, "product": 1.0}
    halves = [
        row("mlp_half", f"8192x4096x{hidden}", name, factor * hidden / 10**4, 10**9)
        for hidden in (4096, 16384)
        for name, factor in slowness.items()
    ]
    times = {"eager": 0.712, "eager_two": 0.398, "compile": 0.523, "one_by_one": 0.547, "blockwise": 0.271}
    tails = [row("mlp_tail", "8192x16384", name, ms, 2**29) for name, ms in times.items()]
    return [synthetic("why_kernels/fused", measurements=[*halves, *tails])]
