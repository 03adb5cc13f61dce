"""Synthetic records for the charts of *Reductions*."""

from collections.abc import Callable
from typing import Any

WAYS = {"blockwise": 0.95, "last": 1.0, "two_launches": 1.1, "atomic": 1.03, "lock": 9.0, "eager": 1.2}
PEERS = {"blockwise": 1.0, "eager": 1.15, "compile": 0.97, "compile_max": 1.3}


def records_of_reductions(synthetic: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    def row(op: str, shape: str, dtype: str, name: str, timing: str, ms: float, moved: int, flops: int | None) -> dict[str, Any]:
        found: dict[str, Any] = {"op": op, "direction": "fwd", "shape": shape, "dtype": dtype, "implementation": name}
        found |= {"timing": timing, "ms": [round(ms * part, 6) for part in (0.97, 1, 1.05)], "bytes": moved, "flops": flops}
        return found | {"configuration": None}

    def timings(n: int) -> tuple[str, ...]:
        return ("call", "graph") if n < 2**26 else ("call",)

    total = [
        row("total", str(2**power), "fp32", way, timing, factor * (0.004 + 2**power / 1e9), 4 * 2**power, 2**power)
        for power in (16, 20, 24, 28)
        for way, factor in WAYS.items()
        for timing in timings(2**power)
    ]
    ways = (
        ("contend", "relaxed", 1),
        ("contend", "ordered", 1.4),
        ("contend", "floats", 1.1),
        ("contend_scattered", "scattered", 7),
    )
    atomics = [
        row(op, str(2**power), "fp32", name, "call", factor * max(0.02, 12 / 2**power), 2**26, 2**24)
        for power in (0, 4, 8, 12, 16, 20, 24)
        for op, name, factor in ways
    ]
    cases = [("sum", "268435456"), ("sum", "65536"), ("max", "1048576"), ("sum_dim-1", "8192x4096"), ("sum_dim0", "8192x4096")]
    shapes = [
        row(op, shape, "bf16", name, timing, factor * (1 + place / 10), 2**27, None)
        for place, (op, shape) in enumerate([*cases, ("max_dim-1", "8192x4096"), ("max_dim0", "262144x1024")])
        for name, factor in PEERS.items()
        for timing in timings(2**24)
    ]
    return [
        synthetic("reductions/benchmark_total", measurements=total),
        synthetic("reductions/benchmark_atomics", measurements=atomics),
        synthetic("reductions/benchmark", measurements=[row for row in shapes if row["op"].startswith("sum")]),
        synthetic("reductions/benchmark_max", measurements=[row for row in shapes if row["op"].startswith("max")]),
    ]
