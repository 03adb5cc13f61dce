"""The dance between memory and chip: what recorded runs of one kernel with blocks of several sizes ask of the memory.

    element_html("add", rows)  ->  the element for a page, with the ledger that needs no script

Trips, bytes and what lies on chip are counted from the traces; times are the measurements of a benchmark.
The standard library alone.
"""

import json
from dataclasses import dataclass
from html import escape
from typing import Any

from scripts import records
from scripts.trace import is_access, lanes_in, map_html, offsets_of, program_words

Record = dict[str, Any]


@dataclass(frozen=True)
class Dance:
    """The runs `dances/<run>_<block>`, and the measurements that belong to them."""

    run: str
    blocks: tuple[int, ...]
    opens: int
    noun: str
    op: str
    shape: str
    dtype: str
    measured: str
    label: str


DANCES = {
    "add": Dance(
        run="add",
        blocks=(128, 256, 512, 1024, 2048, 4096),
        opens=512,
        noun="blocks of {0}",
        op="add_by_block",
        shape="67108864",
        dtype="fp32",
        measured="67,108,864 elements of float32",
        label="Block size",
    ),
    "matmul": Dance(
        run="matmul",
        blocks=(16, 32, 64, 128),
        opens=32,
        noun="tiles of {0} by {0}",
        op="matmul_by_tile",
        shape="2048x2048x2048",
        dtype="fp16",
        measured="matrices of 2048 by 2048, float16",
        label="Tile side",
    ),
}


def size_of(dtype: str) -> int:
    """The bytes of a number, from the name of its type: float16, fp32."""
    return int("".join(c for c in dtype if c.isdigit())) // 8


@dataclass(frozen=True)
class Count:
    programs: int
    trips: int
    loaded: int
    stored: int
    repeats: float
    footprint: int

    @property
    def moved(self) -> int:
        return self.loaded + self.stored


def count(trace: Record) -> Count:
    """Count what a recorded run asked of the memory.

    A trip is one load or store of one program. What lies on chip are the blocks of floating-point numbers that a
    program has a name for, at the step where they are most.
    """
    tensors = trace["tensors"]
    moved = {"load": 0, "store": 0}
    trips, footprint = 0, 0
    wanted: set[tuple[str, int]] = set()
    loaded_lanes = 0
    for program in trace["programs"]:
        for event in filter(is_access, program["events"]):
            trips += 1
            moved[event["op"]] += lanes_in(event, "on") * size_of(tensors[event["tensor"]]["dtype"])
            if event["op"] == "load":
                wanted |= {(event["tensor"], offset) for offset in offsets_of(event, "on")}
                loaded_lanes += lanes_in(event, "on")
        for step in range(len(program["events"])):
            held = sum(bytes_of(block) for block in on_chip(trace, program["events"][: step + 1]).values())
            footprint = max(footprint, held)
    repeats = loaded_lanes / len(wanted)
    return Count(len(trace["programs"]), trips, moved["load"], moved["store"], repeats, footprint)


def on_chip(trace: Record, events: list[Record]) -> dict[str, tuple[list[int], int]]:
    """The shape and the element size of every block of floating-point numbers that has a name after some events."""
    blocks = {}
    for event in events:
        name = event.get("name", event.get("into"))
        dtype = trace["tensors"][event["tensor"]]["dtype"] if event["op"] == "load" else event.get("dtype", "")
        if name and event["shape"] and event["op"] in ("load", "set", "dot") and dtype.startswith(("f", "bf")):
            blocks[name] = (event["shape"], size_of(dtype))
    return blocks


def bytes_of(block: tuple[list[int], int]) -> int:
    shape, size = block
    for side in shape:
        size *= side
    return size


def trace_name(dance: Dance, block: int) -> str:
    return f"dances/{dance.run}_{block}"


def traces(dance: Dance) -> dict[int, Record]:
    return {block: records.read(records.record_path("cpu", "trace", trace_name(dance, block))) for block in dance.blocks}


def times(dance: Dance, rows: list[tuple[Record, Record]]) -> tuple[dict[int, float], str]:
    """The measured microseconds of each block size, and the GPU's name; nothing where nothing was measured."""
    key = {"op": dance.op, "direction": "fwd", "shape": dance.shape, "dtype": dance.dtype, "timing": "call"}
    found = [(row, made) for row, made in rows if all(row[name] == value for name, value in key.items())]
    measured = {row["implementation"]: row["ms"][1] * 1e3 for row, _ in found}
    gpu = found[0][1]["gpu"] if found else ""
    return {block: measured[f"block_{block}"] for block in dance.blocks if f"block_{block}" in measured}, gpu


# The element


def element_html(name: str, rows: list[tuple[Record, Record]], to_root: str) -> str:
    """The whole element for a page, on one line: Markdown would take a blank line as the end of the HTML."""
    dance = DANCES[name]
    recorded = traces(dance)
    counts = {block: count(trace) for block, trace in recorded.items()}
    measured, gpu = times(dance, rows)
    runs = [{"block": block, "src": f"{to_root}baked/cpu/traces/{trace_name(dance, block)}.json"} for block in dance.blocks]
    data = f'data-label="{dance.label}" data-opens="{dance.opens}" data-runs="{escape(json.dumps(runs))}"'
    still = f'<div class="stepper still">{still_html(dance, recorded[dance.opens])}</div>'
    ledger = ledger_html(dance, counts, measured, gpu)
    return (
        f'<figure class="stepper-figure dance-figure" id="dance-{name}"><memory-dance {data}>{still}{ledger}</memory-dance>'
        f"<figcaption>{caption(dance, recorded[dance.opens], counts, measured, gpu)}</figcaption></figure>\n"
    )


def still_html(dance: Dance, trace: Record) -> str:
    """One program's blocks above, what it touches below: what the dance looks like when it stands."""
    program = trace["programs"][0]
    accesses = [event for event in program["events"] if is_access(event)]
    blocks = on_chip(trace, program["events"])
    unit = max(max(shape) for shape, _ in blocks.values())
    chip = "".join(
        f'<span class="map chip"><b>{escape(name)}</b><i class="sheet" style="--columns:{shape[-1]};'
        f'--rows:{shape[0] if len(shape) > 1 else max(1, unit // 16)}"><i class="mark chip on" style="inset:0"></i></i></span>'
        for name, (shape, _) in blocks.items()
    )
    memory = "".join(map_html(name, tensor, accesses) for name, tensor in trace["tensors"].items())
    label = ", ".join(map(str, program["id"]))
    return (
        f'<p class="where">On chip: program {label}, {dance.noun.format(dance.opens)}</p><div class="maps">{chip}</div>'
        f'<p class="where memory">In memory</p><div class="maps">{memory}</div>'
        f'<p class="dance-words">{escape(program_words(trace["tensors"], accesses))}</p>'
    )


def ledger_html(dance: Dance, counts: dict[int, Count], measured: dict[int, float], gpu: str) -> str:
    """What each block size costs, as a table."""
    head = [dance.label, "programs", "trips", "bytes asked for", "reads of each input element", "bytes on chip, one program"]
    lines = []
    for block, found in counts.items():
        cells = [found.programs, found.trips, found.moved, f"{found.repeats:g}", found.footprint]
        told = [f"{cell:,}" if isinstance(cell, int) else cell for cell in cells]
        if measured:
            told.append(f"{measured[block]:,.0f} µs" if block in measured else "")
        columns = "".join(f"<td>{cell}</td>" for cell in told)
        lines.append(f'<tr data-block="{block}"><th scope="row">{block}</th>{columns}</tr>')
    if measured:
        head.append(f"time on the {gpu.removeprefix('NVIDIA ')}, larger input")
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    table = f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    label = f"{dance.label}: trips and bytes"
    return f'<div class="dance-ledger scroll" tabindex="0" role="region" aria-label="{label}">{table}</div>'


def caption(dance: Dance, trace: Record, counts: dict[int, Count], measured: dict[int, float], gpu: str) -> str:
    """What was counted where, and what comes out of it; the sentence on the bytes follows the counts."""
    shapes = {" by ".join(map(str, tensor["shape"])) for tensor in trace["tensors"].values()}
    size = ", ".join(sorted(shapes))
    moved = [found.moved for found in counts.values()]
    least, most = dance.noun.format(dance.blocks[0]), dance.noun.format(dance.blocks[-1])
    if len(set(moved)) == 1:
        lesson = f"The bytes are the same for every size, {moved[0]:,}: larger blocks make fewer trips and carry more on each."
    else:
        lesson = f"From {least} to {most} the bytes fall from {moved[0]:,} to {moved[-1]:,}."
    parts = [
        f"Recorded runs of <code>{escape(trace['kernel'])}</code> on tensors of {size}. {lesson}",
        "Counted are the bytes that programs ask for; the L2 cache, which lies between, answers some of the requests.",
        "On chip counts the blocks of floating-point numbers a program has names for, where they are most.",
    ]
    if measured:
        parts.append(f"The times are those of {dance.measured}, with the same block sizes, on an {gpu}.")
    return " ".join(parts)
