"""Recorded executions: record the runs of `scripts/traced/`, and turn a recording into a piece of a page.

    python scripts/trace.py

writes every trace to docs/baked/cpu/traces. The standard library alone; the recorder runs in a process of its own,
because Triton's interpreter must be chosen before Triton is imported.
"""

import ast
import json
import os
import subprocess
import sys
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts import records
from scripts.environment import environment

RECORDER, TRACED = "scripts/recorder.py", "scripts/traced"
MOST_PROGRAMS = 8
Record = dict[str, Any]


def runs() -> list[tuple[str, list[str]]]:
    """Every traced run with the files of code it comes from."""
    found = []
    for path in sorted((records.ROOT / TRACED).glob("[a-z]*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            match node:
                case ast.Assign(targets=[ast.Name(id="RUNS")], value=ast.Dict(keys=keys)):
                    names = [ast.literal_eval(key) for key in keys if key]
                    found += [(f"{path.stem}/{name}", [RECORDER, f"{TRACED}/{path.name}"]) for name in names]
    return found


def record(name: str) -> Record:
    """Execute one run under the interpreter and return what a record of it holds."""
    variables = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(records.ROOT)}
    command = [sys.executable, "-m", "scripts.recorder", name]
    result = subprocess.run(command, cwd=records.ROOT, env=variables, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"traces/{name}: the recorder ended with status {result.returncode}\n{result.stderr.strip()}")
    return json.loads(result.stdout)


def write_traces() -> None:
    for name, code in runs():
        head = {"schema": records.SCHEMA, "kind": "trace", "name": name, "code": code, "hash": records.code_hash(code)}
        path = records.record_path("cpu", "trace", name)
        records.write(path, head | {"environment": environment(cpu=True)} | record(name))
        print(path.relative_to(records.ROOT))


# The picture for readers without scripts


def fallback_html(trace: Record) -> str:
    """Draw each program's block with the elements it loads or stores, and say the same in words."""
    shown = trace["programs"][:MOST_PROGRAMS]
    rows = [program_html(trace, program) for program in shown]
    if len(trace["programs"]) > len(shown):
        rows.append(f'<p class="still-more">and {len(trace["programs"]) - len(shown)} more programs</p>')
    return f'<div class="stepper still">{"".join(rows)}</div>'


def program_html(trace: Record, program: Record) -> str:
    accesses = [event for event in program["events"] if event["op"] in ("load", "store")]
    drawn = accesses[0]["lanes"] if accesses else []
    alike = groupby(accesses, key=lambda event: event["lanes"])
    words = escape(" ".join(access_sentence(trace["tensors"], list(events)) for _, events in alike))
    label = f"Program {', '.join(map(str, program['id']))}"
    return f'<div class="still-row"><b>{label}</b><div class="strip">{strip_html(drawn)}</div><span>{words}</span></div>'


def strip_html(lanes: list[list[Any]]) -> str:
    """Neighboring runs of one state become one segment, as long as its share of the block."""
    states = [(state, sum(run[2] for run in group)) for state, group in groupby(lanes, key=lambda run: run[0])]
    total = sum(count for _, count in states)
    return "".join(f'<i class="seg {state}" style="width:{count / total:.4%}"></i>' for state, count in states)


def access_sentence(tensors: Record, events: list[Record]) -> str:
    """Say in words what consecutive accesses at the same offsets do."""
    lanes = events[0]["lanes"]
    on = [run for run in lanes if run[0] == "on"]
    masked, outside = (sum(run[2] for run in lanes if run[0] == state) for state in ("masked", "outside"))
    done = []
    for op, group in groupby(events, key=lambda event: event["op"]):
        done.append(f"{op}s " + " and ".join(span(event["tensor"], tensors[event["tensor"]]["shape"], on) for event in group))
    words = ", ".join(done)
    if masked:
        words += f"; {masked} {'lane is' if masked == 1 else 'lanes are'} masked off"
    if outside:
        words += f"; {outside} {'lane points' if outside == 1 else 'lanes point'} outside"
    return f"{words[0].upper()}{words[1:]}."


def span(tensor: str, shape: list[int], on: list[list[Any]]) -> str:
    if not on:
        return f"nothing of {tensor}"
    first, last = on[0][1], on[-1][1] + (on[-1][2] - 1) * on[-1][3]
    begin, end = element(tensor, shape, first), element(tensor, shape, last)
    return begin if begin == end else f"{begin} to {end}"


def element(tensor: str, shape: list[int], offset: int) -> str:
    """Name an element of a contiguous tensor by its indices, as `x[1, 12]`."""
    indices = []
    for size in reversed(shape[1:]):
        offset, index = divmod(offset, size)
        indices.append(index)
    return f"{tensor}[{', '.join(map(str, [offset, *reversed(indices)]))}]"


def masks(program: Record) -> bool:
    return any(run[0] == "masked" for event in program["events"] for run in event.get("lanes", []))


def element_html(name: str, trace: Record, src: str) -> str:
    """The whole element for a page, on one line: Markdown would take a blank line as the end of the HTML."""
    blocks = [event["shape"] for program in trace["programs"] for event in program["events"] if event["op"] == "load"]
    grid = " by ".join(map(str, trace["grid"]))
    lanes = " by ".join(map(str, max(blocks, key=len, default=[])))
    triton = trace["environment"]["triton"]
    special = masks(trace["programs"][-1]) and not masks(trace["programs"][0])
    hint = "Choose the last program to see the mask at work. " if special else ""
    caption = (
        f"A recorded run of <code>{escape(trace['kernel'])}</code> on a small example, not on the inputs of the page’s programs: "
        f"{grid} programs, each with a block of {lanes} positions, called lanes. {hint}"
        f"Triton {escape(triton)}’s interpreter ran the programs one after another; a GPU runs them in no order you may rely on."
    )
    return (
        f'<figure class="stepper-figure" id="trace-{name.replace("/", "-").replace("_", "-")}">'
        f'<program-stepper src="{escape(src)}">{fallback_html(trace)}</program-stepper>'
        f"<figcaption>{caption}</figcaption></figure>\n"
    )


if __name__ == "__main__":
    write_traces()
