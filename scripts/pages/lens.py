"""The compiler lens: a kernel's record as the text that readers download and the element reads, and the table of all kernels."""

import html
import json
from typing import Any

from scripts.provenance import records

Record = dict[str, Any]
FOLDER = records.BAKED / "cpu" / "lens"
HEAD = """{name}: what the compiler made of it.
Before each line stands the number of the line of the source that it comes from, or 0.
"=40 12" stands for 12 lines of the same text of launch 0, from its line 40 on, counted from 0.
"""
COLUMNS = ["kernel", "launch", "warps", "registers", "spilled bytes", "shared bytes", "programs at once", "occupancy", "limit"]


def read_all() -> list[Record]:
    return [records.read(path) for path in sorted(FOLDER.glob("*.json"))]


def text(record: Record) -> str:
    """All that a record holds, for people and for the element alike."""
    parts = [HEAD.format(name=record["name"])]
    number = 1
    for part in record["listing"]:
        lines = [f"{number + at} {line}" for at, line in enumerate(part["lines"])]
        number += len(lines)
        parts.append("\n".join([f"== source {part['name']} {part['file']}", *lines, ""]))
    for number, launch in enumerate(record["launches"]):
        told = {key: value for key, value in launch.items() if key not in ("stages", "passes")}
        parts.append(f"== launch {number} {json.dumps(told, separators=(',', ':'))}\n")
        for stage, lines in launch.get("stages", {}).items():
            parts.append("\n".join([f"== {stage} {number}", *lines, ""]))
        if passes := launch.get("passes"):
            parts.append(f"== passes {number} {passes['count']}\n")
            for change in passes["changed"]:
                parts.append("\n".join([f"== pass {change['name']} {change['out']} {change['into']}", *change["lines"], ""]))
    return "\n".join(parts)


def lines_of(record: Record, stage: str, number: int = 0) -> list[str]:
    """A text of a launch, with what it shares with the first written out."""
    lines = record["launches"][number]["stages"][stage]
    if number == 0:
        return lines
    first, found = record["launches"][0]["stages"].get(stage, []), []
    for line in lines:
        if line.startswith("="):
            start, count = map(int, line[1:].split())
            found += first[start : start + count]
        else:
            found.append(line)
    return found


def table_html(found: list[Record], source: str) -> str:
    """All kernels with their figures on sm_90; a link leads to the text, and where scripts run, to the element."""
    rows = []
    for record in found:
        launch = record["launches"][0]
        told = launch["figures"]
        share = f"{100 * told['resident_warps'] / 64:.0f}%"
        keys = ("warps", "registers", "spill_bytes", "shared", "programs")
        cells = [launch["label"], *(f"{told[key]:,}" for key in keys), share, told["limit"]]
        columns = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        name = record["name"]
        rows.append(f'<tr><th scope="row"><a href="{source}{name}.txt" data-kernel="{name}">{name}</a></th>{columns}</tr>')
    heads = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS)
    label = "Every kernel, compiled for sm_90"
    return (
        f'<div class="scroll lens-kernels" tabindex="0" role="region" aria-label="{label}" data-search-exclude><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def element_html(found: list[Record], source: str) -> str:
    """The element, which loads nothing before a kernel is chosen."""
    still = "Where scripts run, a kernel of the table below opens here, each line beside what became of it. Where they do not, "
    still += "its name leads to all of it as one text."
    return f'<compiler-lens data-src="{source}"><p class="still">{still}</p></compiler-lens>\n' if found else ""
