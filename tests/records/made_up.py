"""Records made up from the committed ones: every case as it was measured, with numbers that nobody measured.

What a chart or an explorer does with a record is tested with these, so that no bake can change what the tests say. A case that
a benchmark gains is in them at once.
"""

import copy
from functools import cache
from pathlib import Path
from typing import Any

from kernels.tools.benchmark import DTYPES
from kernels.tools.drawn import draw_heads, draw_products, draw_rows
from scripts import charts
from scripts.pages import chooser, picker
from scripts.provenance import records
from scripts.provenance.environment import primary_machine

Record = dict[str, Any]
ENVIRONMENT = {"machine": "made-up", "gpu": "Made-up GPU", "driver": "1", "cuda": "2", "torch": "3", "triton": "4", "python": "5"}
ENVIRONMENT |= {"measured_at": "2000-01-01T00:00:00Z", "commit": "0" * 40}
# 4,000 GB/s and 733 TFLOP/s.
CEILINGS = {
    "copy": {"bytes": 2 * 10**9, "ms": [0.499, 0.5, 0.502]},
    "matmul": {"flops": 2 * 8192**3, "ms": [1.4, 1.5, 1.6]},
}


@cache
def committed(program: str) -> Record:
    return records.read(records.record_path(primary_machine(), "program", program))


def times(row: Record, place: int) -> list[float]:
    """A latency, and what memory or arithmetic takes below the ceilings; no two rows of a record are alike."""
    work = row["bytes"] / 3.7e9 + (row["flops"] or 0) / 6.1e11
    slowness = 1 + place * 37 % 101 / 97
    return [round((0.004 + work) * slowness * part, 6) for part in (0.97, 1, 1.04)]


DRAWS = {"matmul": draw_products, "attention": draw_heads, "rope": draw_heads}
ONE_WAY = {"add": ["fwd"], "sum": ["fwd"], "max": ["fwd"], "cross_entropy": ["fwd", "fwdbwd"]}


def drawn(program: str, seed: int = 7) -> Record:
    """A record of a benchmark at drawn shapes: its shapes as that seed draws them, with times that nobody measured."""
    name = program.split("/")[1]
    found = []
    for case in DRAWS.get(name, draw_rows)(seed):
        for direction in ONE_WAY.get(name, ["fwd", "bwd"]):
            row: Record = {"op": name, "direction": direction, "shape": case.shape, "dtype": DTYPES[case.dtype]}
            row |= {"bytes": 2**20 * (1 + 11 * len(found)), "flops": None}
            peers = ("blockwise", "eager", "compile")
            found.append(row | {"ms": {peer: times(row, 3 * len(found) + place) for place, peer in enumerate(peers)}})
    head = {key: value for key, value in committed("fused_softmax/benchmark").items() if key != "measurements"}
    head |= {"name": program, "environment": dict(ENVIRONMENT), "ceilings": copy.deepcopy(CEILINGS)}
    return head | {"drawn": {"op": name, "seed": seed, "cases": found}}


PEAKS = {"eager": 6.1e-9, "eager_fp32": 13e-9, "compile": 4.3e-9, "blockwise": 0.4e-9, "liger": 0.9e-9}
STEPS = {"eager": (21_000, 41.5), "compile": (30_100, 33.2), "liger": (26_700, 22.8), "blockwise": (28_300, 21.4)}


def of_training() -> dict[str, Record]:
    """The figures of what may not have been measured yet: peaks, of which one did not fit, and steps."""
    rows = []
    for classes in (32000, 128256):
        for tokens in (2048, 4096, 8192):
            found = {way: 4.2 * classes / 1e6 + share * tokens * classes for way, share in PEAKS.items()}
            if tokens * classes > 10**9:
                found["eager_fp32"] = None
            rows += [{"tokens": tokens, "classes": classes, "way": way, "gb": gb} for way, gb in found.items()]
    peaks = {"hidden": 2048, "rows": rows, "versions": {"torch": "3"}}
    steps = {way: {"tokens_per_second": rate, "peak_gb": gb, "loss": 11.8, "ms": 1.0} for way, (rate, gb) in STEPS.items()}
    return {"training/peaks": peaks, "training/one_step": steps | {"versions": {"torch": "3"}}}


def made_up(program: str) -> Record:
    """The program's record with other times and other bytes counted. What it kept as figures of its own stays."""
    if program.startswith("drawn/"):
        return drawn(program)
    if program in of_training():
        other = committed("fused_softmax/benchmark")
        head = {key: value for key, value in other.items() if key not in ("measurements", "ceilings")}
        return head | {"name": program, "environment": dict(ENVIRONMENT), "figures": of_training()[program]}
    record = copy.deepcopy(committed(program)) | {"environment": dict(ENVIRONMENT)}
    if "ceilings" in record:
        record["ceilings"] = copy.deepcopy(CEILINGS)
    for place, row in enumerate(record.get("measurements", [])):
        row["ms"] = times(row, place)
    for place, row in enumerate(record.get("counters", [])):
        row |= {"dram_read_bytes": 10**9 + 37 * 10**6 * place, "dram_write_bytes": 10**8 + 3 * 10**6 * place, "ms": 1.5 + place}
    return record


def of_charts() -> dict[str, Record]:
    """A record of every program that a chart is drawn from."""
    return {source: made_up(source) for source in sorted({name for _, sources in charts.CHARTS.values() for name in sources})}


def without_tool(record: Record, tool: str) -> Record:
    return record | {"measurements": [row for row in record["measurements"] if row["implementation"] != tool]}


def write_chooser(folder: Path, machine: str) -> None:
    """Records of all the chooser's patterns but the last: most whole, one of a failed tool, one made without nvcc."""
    for key in list(chooser.PATTERNS)[:-1]:
        record = made_up(chooser.PATTERNS[key]["program"])
        if key == "chain":
            record = without_tool(record, "triton")
            record["figures"]["failed"] = {"triton": "relative error 1.0e+00"}
        if key == "softmax":
            record = without_tool(record, "cuda")
            record["figures"]["cuda"] = {"skipped": "no nvcc on the PATH"}
        records.write(records.record_path(machine, "program", record["name"], folder), record)


CHOSEN, TOO_MUCH = 11, 14  # the autotuner's choice for the first shape; the configuration that asks for too much shared memory


@cache
def of_picker() -> Record:
    """The picker's record, with a failure whose text is no markup, and no choice of the autotuner for the last shape."""
    record = made_up(picker.NAME)
    *_, last = shapes = list(record["figures"]["shapes"].values())
    shapes[0]["chosen"], last["chosen"] = CHOSEN, None
    for side in picker.SIDES:
        for found in shapes:
            found[side][TOO_MUCH] |= dict.fromkeys(("us", "us_p20", "us_p80", "tflops"))
            found[side][TOO_MUCH]["failure"] = f"{side}: out of resource: shared memory, 294912 bytes <of 232448>"
    return record
