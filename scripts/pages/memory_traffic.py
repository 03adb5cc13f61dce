"""The dance between memory and chip: what recorded runs of one kernel with blocks of several sizes ask of the memory.

    element_html("add", rows)  ->  the element for a page, with the ledger that needs no script

Trips, bytes and what lies on chip are counted from the traces; times are the measurements of a benchmark.
The standard library alone.
"""

import json
import math
from dataclasses import dataclass
from html import escape
from typing import Any

from scripts.pages.stepper import is_access, lanes_in, offsets_of, program_words, rectangles
from scripts.provenance import records
from scripts.provenance.environment import measured_on

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


def times(dance: Dance, rows: list[tuple[Record, Record]]) -> tuple[dict[int, float], Record | None]:
    """The measured microseconds of each block size, and where they were measured; nothing where nothing was."""
    key = {"op": dance.op, "direction": "fwd", "shape": dance.shape, "dtype": dance.dtype, "timing": "call"}
    found = [(row, made) for row, made in rows if all(row[name] == value for name, value in key.items())]
    measured = {row["implementation"]: row["ms"][1] * 1e3 for row, _ in found}
    made = found[0][1] if found else None
    return {block: measured[f"block_{block}"] for block in dance.blocks if f"block_{block}" in measured}, made


# The element


def element_html(name: str, rows: list[tuple[Record, Record]], to_root: str) -> str:
    """The whole element for a page, on one line: Markdown would take a blank line as the end of the HTML."""
    dance = DANCES[name]
    recorded = traces(dance)
    counts = {block: count(trace) for block, trace in recorded.items()}
    measured, made = times(dance, rows)
    runs = [{"block": block, "src": f"{to_root}baked/cpu/traces/{trace_name(dance, block)}.json"} for block in dance.blocks]
    data = f'data-label="{dance.label}" data-opens="{dance.opens}" data-runs="{escape(json.dumps(runs))}"'
    still = f'<div class="stepper still">{still_html(dance, recorded[dance.opens])}</div>'
    ledger = ledger_html(dance, counts, measured, made)
    return (
        f'<figure class="stepper-figure dance-figure" id="dance-{name}"><memory-dance {data}>{still}{ledger}</memory-dance>'
        f"<figcaption>{caption(dance, recorded[dance.opens], counts, made)}</figcaption></figure>\n"
    )


def still_html(dance: Dance, trace: Record) -> str:
    """One program's blocks above, what it touches below: what the dance looks like when it stands."""
    program = trace["programs"][0]
    accesses = [event for event in program["events"] if is_access(event)]
    held = on_chip(trace, program["events"])
    marked = '<i class="mark chip on now" style="inset:0"></i>'
    chip = "".join(piece_html(name, shape, marked) for name, (shape, _) in held.items())
    memory = "".join(
        piece_html(name, tensor["shape"], marks_html(name, tensor, accesses)) for name, tensor in trace["tensors"].items()
    )
    label = ", ".join(map(str, program["id"]))
    total = sum(bytes_of(block) for block in held.values())
    return (
        f'<div class="dance-stage{" square" if is_square(trace) else ""}" style="{scale(dance, trace)}">'
        f'<p class="where">On chip: program {label}, {dance.noun.format(dance.opens)}<small>{total:,} bytes held</small></p>'
        f'<div class="sheets fine on-chip">{chip}</div><div class="dance-way"></div>'
        f'<p class="where memory">In memory (HBM)</p><div class="sheets fine">{memory}</div></div>'
        f'<p class="dance-words">{escape(program_words(trace["tensors"], accesses))}</p>'
    )


def flat(shape: list[int]) -> tuple[int, int]:
    """Columns and rows of a drawing."""
    return shape[-1], math.prod(shape[:-1])


def is_square(trace: Record) -> bool:
    return any(flat(tensor["shape"])[1] > 1 for tensor in trace["tensors"].values())


def scale(dance: Dance, trace: Record) -> str:
    """How large an element is drawn: matrices beside each other, vectors below each other, as wide as the page allows."""
    widths = [flat(tensor["shape"])[0] for tensor in trace["tensors"].values()]
    if is_square(trace):
        gaps = 1.1 * (len(widths) - 1) + 2.3
        return f"--unit:min({32 / sum(widths):.4f}rem, (100cqi - {gaps:.1f}rem) / {sum(widths)})"
    return f"--unit:calc((100cqi - 2.3rem) / {max(*widths, *dance.blocks)});--tall:0.9rem"


def piece_html(name: str, shape: list[int], marks: str) -> str:
    columns, rows = flat(shape)
    return (
        f'<span class="piece"><b class="name">{escape(name)}</b><small>{" × ".join(map(str, shape))}</small>'
        f'<i class="sheet" style="--columns:{columns};--rows:{rows}">{marks}<i class="extent" style="height:100%"></i></i></span>'
    )


def marks_html(name: str, tensor: Record, accesses: list[Record]) -> str:
    columns, rows = flat(tensor["shape"])
    touched = {offset for event in accesses if event["tensor"] == name for offset in offsets_of(event, "on")}
    marks = []
    for x, y, width, height in rectangles(touched, columns):
        place = f"left:{x / columns:.2%};top:{y / rows:.2%};width:{width / columns:.2%};height:{height / rows:.2%}"
        marks.append(f'<i class="mark on now" style="{place}"></i>')
    return "".join(marks)


def ledger_html(dance: Dance, counts: dict[int, Count], measured: dict[int, float], made: Record | None) -> str:
    """What each block size costs, as a table."""
    head = [dance.label, "programs", "trips", "bytes asked for", "reads of each input element", "bytes on chip, one program"]
    lines = []
    for block, found in counts.items():
        cells = [found.programs, found.trips, found.moved, f"{found.repeats:g}", found.footprint]
        told = [f"{cell:,}" if isinstance(cell, int) else cell for cell in cells]
        if made:
            told.append(f"{measured[block]:,.0f} µs" if block in measured else "")
        columns = "".join(f"<td>{cell}</td>" for cell in told)
        lines.append(f'<tr data-block="{block}"><th scope="row">{block}</th>{columns}</tr>')
    if made:
        head.append(f"time on the {made['gpu'].removeprefix('NVIDIA ')}, larger input")
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    body = "".join(lines)
    table = f'<table class="ledger"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'
    label = f"{dance.label}: trips and bytes"
    return f'<div class="dance-ledger scroll" tabindex="0" role="region" aria-label="{label}">{table}</div>'


def caption(dance: Dance, trace: Record, counts: dict[int, Count], made: Record | None) -> str:
    """What was counted where, and what comes out of it; the sentence on the bytes follows the counts."""
    sizes = sorted({" by ".join(map(str, tensor["shape"])) for tensor in trace["tensors"].values()})
    moved = [found.moved for found in counts.values()]
    least, most = dance.noun.format(dance.blocks[0]), dance.noun.format(dance.blocks[-1])
    if len(set(moved)) == 1:
        lesson = f"Every size moves the same {moved[0]:,} bytes: larger blocks make fewer trips and carry more on each."
    else:
        lesson = f"With {least} the programs ask for {moved[0]:,} bytes, with {most} for {moved[-1]:,}."
    parts = [
        f"Recorded runs of <code>{escape(trace['kernel'])}</code> on tensors of {', '.join(sizes)} elements. {lesson}",
        "A trip is one load or store of one program."
        + ("" if len(set(moved)) == 1 else " What is asked for a second time may come from the L2 cache, on the way to memory."),
        "Bytes on chip: the floating-point blocks that a program has names for, at the point where they take up the most room.",
    ]
    if made:
        parts.append(f"Times: the same kernel and sizes on {dance.measured}. {escape(measured_on(made))}")
    return " ".join(parts)
