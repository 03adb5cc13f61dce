"""A recorded execution as a piece of a page: what each program reads and writes, in words and as an element."""

import math
from collections.abc import Iterable
from html import escape
from itertools import groupby
from operator import lt
from typing import Any

from scripts.pages import on_chip

MOST_PROGRAMS = 8
Record = dict[str, Any]


def unrolled(coded: list[list[Any]]) -> list[list[Any]]:
    """Runs without repeats; see scripts/recording/recorder.py for how they are coded."""
    found = []
    for item in coded:
        if isinstance(item[2], list):
            times, shift, row = item
            found += [[*run[:-3], run[-3] + turn * shift, *run[-2:]] for turn in range(times) for run in row]
        else:
            found.append(item)
    return found


def is_access(event: Record) -> bool:
    return "lanes" in event and (event["op"] in ("load", "store") or event["op"].startswith("atomic"))


def offsets_of(event: Record, state: str) -> list[int]:
    """The offsets of the lanes of one state, in the order of the lanes."""
    runs = [run[1:] for run in unrolled(event["lanes"]) if run[0] == state]
    return [first + i * step for first, count, step in runs for i in range(count)]


def lanes_in(event: Record, state: str) -> int:
    return sum(run[2] for run in unrolled(event["lanes"]) if run[0] == state)


def strides_of(tensor: Record) -> list[int]:
    if "strides" in tensor:
        return tensor["strides"]
    strides = [1]
    for size in reversed(tensor["shape"][1:]):
        strides.insert(0, strides[0] * size)
    return strides[-len(tensor["shape"]) :] if tensor["shape"] else []


def indices_of(tensor: Record, offsets: Iterable[int]) -> list[list[int] | None]:
    """The indices of the elements at some offsets; None where no element lies."""
    shape = tensor["shape"]
    axes = sorted(((stride, axis) for axis, stride in enumerate(strides_of(tensor)) if stride and shape[axis] > 1), reverse=True)
    found: list[list[int] | None] = []
    for offset in offsets:
        index, rest = [0] * len(shape), offset
        for stride, axis in axes:
            index[axis], rest = divmod(rest, stride)
        found.append(index if rest == 0 and offset >= 0 and all(map(lt, index, shape)) else None)
    return found


def element(name: str, tensor: Record, offset: int) -> str:
    """Name an element by its indices, as `x[1, 12]`, or else by its offset, as `x + 96`."""
    (index,) = indices_of(tensor, [offset])
    return f"{name}[{', '.join(map(str, index))}]" if index else f"{name} + {offset}" if offset >= 0 else f"{name} − {-offset}"


def part_of(name: str, tensor: Record, offsets: list[int]) -> str:
    """Say which elements of a tensor some offsets are: `x[3]`, `x[0] to x[9]`, or the tile `x[0:4, 8:12]`."""
    if not offsets:
        return f"nothing of {name}"
    indices = indices_of(tensor, dict.fromkeys(offsets))
    known = [index for index in indices if index]
    if len(known) == len(indices) and known:
        low, high = [min(axis) for axis in zip(*known, strict=True)], [max(axis) for axis in zip(*known, strict=True)]
        full = math.prod(last - first + 1 for first, last in zip(low, high, strict=True)) == len(known)
        if full and sum(first < last for first, last in zip(low, high, strict=True)) > 1:
            sides = [f"{first}:{last + 1}" if first < last else str(first) for first, last in zip(low, high, strict=True)]
            return f"{name}[{', '.join(sides)}]"
        if not full:
            return f"{len(known)} elements from {element(name, tensor, min(offsets))} to {element(name, tensor, max(offsets))}"
    begin, end = element(name, tensor, min(offsets)), element(name, tensor, max(offsets))
    return begin if begin == end else f"{begin} to {end}"


# The picture for readers without scripts


def fallback_html(trace: Record) -> str:
    """Draw each program's block with the elements it loads or stores, and say the same in words."""
    programs = trace["programs"]
    rows = [program_html(trace, program) for program in programs[: MOST_PROGRAMS - (len(programs) > MOST_PROGRAMS)]]
    if len(programs) > MOST_PROGRAMS:
        between = len(programs) - MOST_PROGRAMS
        rows.append(f'<p class="still-more">and {between} more program{"s" if between > 1 else ""}, up to the last one:</p>')
        rows.append(program_html(trace, programs[-1]))
    return f'<div class="stepper still">{"".join(rows)}{still_legend(trace)}</div>'


def still_legend(trace: Record) -> str:
    """What the colors and the hatching of the still picture mean, as far as they are in it."""
    accesses = [event for program in trace["programs"] for event in program["events"] if is_access(event)]
    if any(len(event["shape"]) > 1 for event in accesses):
        entries = [("mark on", "read or written")]
    else:
        words = {"on": "lanes that read or write", "masked": "masked off, not touched", "outside": "outside the tensor"}
        entries = [(f"seg {state}", words[state]) for state in words if any(lanes_in(event, state) for event in accesses)]
    spans = [f'<span><i class="{look}"></i>{text}</span>' for look, text in entries]
    return f'<p class="legend">{"".join(spans)}</p>'


def program_html(trace: Record, program: Record) -> str:
    accesses = [event for event in program["events"] if is_access(event)]
    drawn = unrolled(accesses[0]["lanes"]) if accesses else []
    label = f"Program {', '.join(map(str, program['id']))}"
    tiled = any(len(event["shape"]) > 1 for event in accesses)
    picture = maps_html(trace, accesses) if tiled else f'<div class="strip">{strip_html(drawn)}</div>'
    words = escape(program_words(trace["tensors"], accesses))
    return f'<div class="still-row"><b>{label}</b>{picture}<span>{words}</span></div>'


def strip_html(lanes: list[list[Any]]) -> str:
    """Neighboring runs of one state become one segment, as long as its share of the block."""
    states = [(state, sum(run[2] for run in group)) for state, group in groupby(lanes, key=lambda run: run[0])]
    total = sum(count for _, count in states)
    return "".join(f'<i class="seg {state}" style="width:{count / total:.4%}"></i>' for state, count in states)


def maps_html(trace: Record, accesses: list[Record]) -> str:
    """Every tensor as a rectangle, with what the program touches of it."""
    return f'<div class="maps">{"".join(map_html(name, tensor, accesses) for name, tensor in trace["tensors"].items())}</div>'


def map_html(name: str, tensor: Record, accesses: list[Record]) -> str:
    shape = tensor["shape"]
    columns = shape[-1] if len(shape) > 1 else min(math.prod(shape), 64)
    rows = math.ceil(math.prod(shape) / columns)
    offsets = {offset for event in accesses if event["tensor"] == name for offset in offsets_of(event, "on")}
    touched = {place(index, shape) for index in indices_of(tensor, offsets) if index}
    marks = "".join(
        f'<i class="mark on" style="left:{x / columns:.3%};top:{y / rows:.3%};width:{w / columns:.3%};height:{h / rows:.3%}"></i>'
        for x, y, w, h in rectangles(touched, columns)
    )
    size = f"--columns:{columns};--rows:{rows}"
    return f'<span class="map"><b>{escape(name)}</b><i class="sheet" style="{size}">{marks}</i></span>'


def place(index: list[int], shape: list[int]) -> int:
    """The number of an element when a tensor's elements are counted in the order of their indices."""
    number = 0
    for i, size in zip(index, shape, strict=True):
        number = number * size + i
    return number


def rectangles(cells: set[int], columns: int) -> list[tuple[int, int, int, int]]:
    """Cover cells, numbered row by row, with few rectangles: left, top, width, height."""
    left, found = set(cells), []
    for cell in sorted(cells):
        if cell not in left:
            continue
        y, x = divmod(cell, columns)
        width = next(w for w in range(1, columns - x + 2) if x + w >= columns or cell + w not in left)
        height = 1
        while all(cell + height * columns + w in left for w in range(width)):
            height += 1
        left -= {cell + h * columns + w for h in range(height) for w in range(width)}
        found.append((x, y, width, height))
    return found


DOES = {"load": "loads", "store": "stores"}


def does(op: str) -> str:
    return DOES.get(op, f"does an {op.replace('_', ' ')} on")


def program_words(tensors: Record, accesses: list[Record]) -> str:
    """Say in words what a program reads and writes; accesses with as many lanes left out share a sentence."""
    parts: dict[tuple[str, str], list[Record]] = {}
    for event in accesses:
        parts.setdefault((event["op"], event["tensor"]), []).append(event)
    left_out = {key: tuple(sum(lanes_in(e, s) for e in events) for s in ("masked", "outside")) for key, events in parts.items()}
    sentences = []
    for (masked, outside), keys in groupby(parts, key=lambda key: left_out[key]):
        done = []
        for op, group in groupby(keys, key=lambda key: key[0]):
            done.append(f"{does(op)} " + " and ".join(what(tensors, name, parts[op, name]) for _, name in group))
        words = ", ".join(done)
        if masked:
            words += f"; {masked} {'lane is' if masked == 1 else 'lanes are'} masked off"
        if outside:
            words += f"; {outside} {'lane points' if outside == 1 else 'lanes point'} outside"
        sentences.append(f"{words[0].upper()}{words[1:]}.")
    return " ".join(sentences)


def what(tensors: Record, name: str, events: list[Record]) -> str:
    offsets = [offset for event in events for offset in offsets_of(event, "on")]
    words = part_of(name, tensors[name], offsets)
    return f"{words} in {len(events)} parts" if len(events) > 1 else words


def masks(program: Record) -> bool:
    return any(lanes_in(event, "masked") for event in program["events"] if "lanes" in event)


def element_html(name: str, trace: Record, src: str) -> str:
    """The whole element for a page, on one line: Markdown would take a blank line as the end of the HTML."""
    blocks = [event["shape"] for program in trace["programs"] for event in program["events"] if is_access(event)]
    grid = " by ".join(map(str, trace["grid"]))
    lanes = " by ".join(map(str, max(blocks, key=lambda shape: (len(shape), math.prod(shape)), default=[])))
    triton = trace["environment"]["triton"]
    special = masks(trace["programs"][-1]) and not masks(trace["programs"][0])
    hint = "Choose the last program to see the mask at work. " if special else ""
    caption = (
        f"A recorded run of <code>{escape(trace['kernel'])}</code> on a small example, not on the inputs of the page’s scripts: "
        f"{grid} programs, each with a block of {lanes} positions, called lanes. {hint}"
        f"Triton {escape(triton)}’s interpreter ran the programs one after another; a GPU runs them in no order you may rely on."
    )
    registers, kept = on_chip.kept(trace)
    chip = f' data-registers="{escape(kept)}"' if registers else f' data-kept="{escape(kept)}"' if kept else ""
    return (
        f'<figure class="stepper-figure" id="trace-{name.replace("/", "-").replace("_", "-")}">'
        f'<program-stepper src="{escape(src)}"{chip}>{fallback_html(trace)}</program-stepper>'
        f"<figcaption>{caption}</figcaption></figure>\n"
    )
