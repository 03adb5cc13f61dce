"""A synthetic record for the chart of the matmul ladder."""

from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
LAST = ("wide", "descriptors", "persistent", "specialized", "eager")
FIRST = ("cores", "grouped", "stages", *LAST)
CASES = {
    ("fp32", "2048x2048x2048"): ("naive", "tiles", "eager"),
    ("fp32", "4096x4096x4096"): ("tiles", "eager"),
    ("bf16", "4096x4096x4096"): FIRST,
    ("bf16", "8192x8192x8192"): FIRST,
    ("bf16", "8192x8192x512"): LAST,
    ("bf16", "512x512x65536"): ("whole", "split", "eager"),
    ("bf16", "16x8192x8192"): ("whole", "split", "eager"),
}


def records_of_matmul_ladder(synthetic: Callable[..., Record]) -> list[Record]:
    rows = []
    for number, ((dtype, shape), names) in enumerate(CASES.items()):
        m, n, k = map(int, shape.split("x"))
        for place, name in enumerate(names):
            rate = (40 + 60 * number) * (1 + place / 7) * 1e9
            ms = [round(2 * m * n * k / rate * part, 6) for part in (0.97, 1, 1.04)]
            where = {"op": "matmul_ladder", "direction": "fwd", "shape": shape, "dtype": dtype, "implementation": name}
            rows.append({**where, "timing": "call", "ms": ms, "bytes": 10**8, "flops": 2 * m * n * k})
    return [synthetic("matmul_ladder/benchmark", measurements=rows)]
