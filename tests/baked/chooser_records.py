"""Made-up records of the programs behind the chooser of a stack: the lines are counted, the times are not measured."""

from pathlib import Path
from typing import Any

from scripts.pages import chooser
from scripts.provenance import records
from tests.baked.picker_records import ENVIRONMENT

LINES = {"eager": 2, "compile": 3, "triton": 20, "cuda": 60}
TIMES = {"eager": 0.9, "compile": 0.31, "triton": 0.3, "cuda": 0.42}


def made_up(key: str, *, without: tuple[str, ...] = (), skipped: bool = False) -> dict[str, Any]:
    """A record of one pattern's program; some tools without a time, or the CUDA C++ without nvcc."""
    pattern, shift = chooser.PATTERNS[key], list(chooser.PATTERNS).index(key)
    op, direction, *shape, dtype = pattern["case"].split()
    lines = {tool: number + shift for tool, number in LINES.items()}
    times = {tool: round(ms * (1 + 0.1 * shift), 4) for tool, ms in TIMES.items()}
    if key == "epilogue":
        lines["library"], times["library"] = 2, 0.29
    failed = dict.fromkeys(without, "relative error 1.0e+00")
    figures: dict[str, Any] = {"lines": lines, "failed": failed, "triton": {"build_seconds": 0.4}}
    figures["cuda"] = {"skipped": "no nvcc on the PATH"} if skipped else {"build_seconds": 1.3}
    named = [tool for tool in times if tool not in without and not (skipped and tool == "cuda")]
    case = {"op": op, "direction": direction, "shape": " ".join(shape), "dtype": dtype, "bytes": 1, "flops": 1}
    rows = [
        case | {"implementation": tool, "timing": timing, "ms": [times[tool] * share for share in (0.98, 1.0, 1.05)]}
        for tool in named
        for timing in ("graph", "call")
    ]
    for row in rows:  # a replayed graph is not what a reader calls
        if row["timing"] == "graph":
            row["ms"] = [value / 2 for value in row["ms"]]
    environment = ENVIRONMENT | {"measured_at": "2026-11-22T06:00:00Z", "python": "3.12", "commit": "0" * 40}
    head = {"schema": records.SCHEMA, "kind": "program", "name": pattern["program"], "code": [], "hash": ""}
    return head | {"environment": environment, "figures": figures, "measurements": rows}


def write_all(folder: Path, machine: str) -> None:
    """Records of all patterns but the last: one whole, one without a tool, one without nvcc."""
    odd: dict[str, dict[str, Any]] = {"chain": {"without": ("triton",)}, "softmax": {"skipped": True}}
    for key in list(chooser.PATTERNS)[:-1]:
        path = records.record_path(machine, "program", chooser.PATTERNS[key]["program"], folder)
        records.write(path, made_up(key, **odd.get(key, {})))
