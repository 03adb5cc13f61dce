"""Synthetic records for the charts of *Why write a kernel*."""

from collections.abc import Callable
from typing import Any

Record = dict[str, Any]


def row(op: str, shape: str, name: str, ms: float, moved: int) -> Record:
    where = {"op": op, "direction": "fwd", "shape": shape, "dtype": "bf16", "implementation": name, "timing": "call"}
    times = [round(ms * part, 6) for part in (0.97, 1, 1.04)]
    return where | {"ms": times, "bytes": moved, "flops": None, "configuration": None}


def records_of_why_kernels(synthetic: Callable[..., Record]) -> list[Record]:
    halves = [
        row("mlp_half", f"8192x4096x{hidden}", name, factor * hidden / 10**4, 10**9)
        for hidden in (4096, 16384)
        for name, factor in (("eager", 1.32), ("compile", 1.24), ("blockwise", 1.17))
    ]
    slowness = {"eager": 0.512, "compile": 0.323, "one_by_one": 0.347, "blockwise": 0.171}
    tails = [row("mlp_tail", "8192x16384", name, ms, 2**29) for name, ms in slowness.items()]
    alone = [row("mlp_matmul", f"8192x4096x{hidden}", "eager", hidden / 10**4, 10**9) for hidden in (4096, 16384)]
    # The tests change every fifth row and expect the chart of the tail to change.
    mixed = [tails[0], *halves[:4], tails[1], *halves[4:], *tails[2:]]
    return [synthetic("why_kernels/fused", measurements=mixed), synthetic("why_kernels/bound", measurements=alone)]
