"""Synthetic records for the charts and the picture of *L2 and the order of tiles*, and for the charts of *Precision*."""

from collections.abc import Callable
from typing import Any

from scripts.drawing.chapters.precision import LENGTHS, LOOKS, RATED
from scripts.drawing.chapters.tile_order import GROUPS, WATCHED

Record = dict[str, Any]
SHAPES = ("2048x2048x2048", "4096x4096x4096", *WATCHED)


def timed(op: str, shape: str, dtype: str, names: list[str], first: float) -> list[Record]:
    m, n, k = map(int, shape.split("x"))
    rows = []
    for place, name in enumerate(names):
        times = [round((first + 0.137 * place) * part, 6) for part in (0.97, 1, 1.04)]
        row = {"op": op, "direction": "fwd", "shape": shape, "dtype": dtype, "implementation": name, "timing": "call"}
        rows.append({**row, "ms": times, "bytes": m * n, "flops": 2 * m * n * k, "configuration": None})
    return rows


def records_of_order(synthetic: Callable[..., Record]) -> list[Record]:
    names = [*(f"group_{group}" for group in GROUPS), "eager"]
    rows = [row for place, shape in enumerate(SHAPES) for row in timed("tile_order", shape, "bf16", names, 1.3 + place)]
    counters = []
    for place, group in enumerate(GROUPS):
        for turn in range(2):
            entry = {"implementation": f"group_{group}", "kernel": "ordered_matmul_kernel", "registers": 186, "ms": 1.5}
            entry |= {"dram_read_bytes": 10**9 + 3 * 10**7 * place + 10**8 * turn, "dram_write_bytes": 10**8}
            counters.append(entry | {"l2_hit_percent": 61.5 + 3 * place + turn, "l2_bytes": 8 * 10**9})
    watched = {f"group_{group}": {"programs": 131.5, "rows": 9.5, "columns": 17.5} for group in GROUPS}
    figures = {"processors": 132, "l2_bytes": 50 * 2**20, "watched": watched}
    return [synthetic("tile_order/groups", measurements=rows, counters=counters, figures=figures), precision(synthetic)]


def precision(synthetic: Callable[..., Record]) -> Record:
    rows = []
    for place, (dtype, names) in enumerate(RATED.items()):
        rows += timed("precision_scaled" if dtype == "e4m3" else "precision", "8192x8192x8192", dtype, list(names), 2.1 + place)
    figures: Record = {"instructions": {}, "failures": []}
    for kind in ("normal", "positive"):
        figures[kind] = {}
        for step, length in enumerate(LENGTHS):
            errors = {way: round((1 + step) * 10.0 ** -(place + 1), 9) for place, way in enumerate(LOOKS)}
            figures[kind][str(length)] = {way: {"whole": value, "sums": round(value / 2, 9)} for way, value in errors.items()}
    return synthetic("precision/ways", measurements=rows, figures=figures)
