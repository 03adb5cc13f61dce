"""Every committed trace against the kernel's formula, written again in NumPy; nothing here reads the kernel itself."""

import copy
import gzip
import json
import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from scripts import records, trace

Trace = dict[str, Any]


def committed(name: str) -> Trace:
    return records.read(records.record_path("cpu", "trace", name))


# The formulas. Each gives, for a program, the variables it sets and the accesses it makes, in order.


def add_formula(program: int) -> tuple[dict[str, Any], list[tuple[str, str, np.ndarray, np.ndarray]]]:
    offsets = 256 * program + np.arange(256)
    mask = offsets < 1000
    accesses = [("load", "x", offsets, mask), ("load", "y", offsets, mask), ("store", "out", offsets, mask)]
    return {"pid": program, "offsets": offsets, "mask": mask}, accesses


def softmax_formula(program: int) -> tuple[dict[str, Any], list[tuple[str, str, np.ndarray, np.ndarray]]]:
    columns = np.arange(16)
    mask = columns < 13
    accesses = [("load", "x", 13 * program + columns, mask), ("store", "y", 13 * program + columns, mask)]
    return {"row": program, "columns": columns, "mask": mask}, accesses


FORMULAS = {"first_kernel/add": add_formula, "fused_softmax/row": softmax_formula}
PROGRAMS = {"first_kernel/add": 4, "fused_softmax/row": 4}
SIZES = {"first_kernel/add": 1000, "fused_softmax/row": 52}
STEPS = {
    "first_kernel/add": "pid offsets mask load:x load:y out store:out",
    "fused_softmax/row": "row columns mask load:x max numerator sum y store:y",
}


def expand(runs: list[list[int]]) -> np.ndarray:
    return np.concatenate([first + step * np.arange(count) for first, count, step in runs])


def values(event: Trace) -> np.ndarray:
    """The values of an event; NaN where they are undefined."""
    return np.array([float(text.replace("?", "nan")) for text in event["values"].split()])


def step(event: Trace) -> str:
    return f"{event['op']}:{event['tensor']}" if event["op"] in ("load", "store") else event.get("name", event["op"])


def faults(name: str, found: Trace) -> list[str]:
    """What a trace says that the formula does not, in words."""
    wrong = []
    if [program["id"] for program in found["programs"]] != [[number] for number in range(PROGRAMS[name])]:
        wrong.append("the programs")
    for number, program in enumerate(found["programs"]):
        variables, accesses = FORMULAS[name](number)
        if [step(event) for event in program["events"]] != STEPS[name].split():
            wrong.append(f"the steps of program {number}")
        for event in program["events"]:
            if "runs" in event and not np.array_equal(expand(event["runs"]), np.atleast_1d(variables[event["name"]])):
                wrong.append(f"{event['name']} in program {number}")
        made = [event for event in program["events"] if event["op"] in ("load", "store")]
        for event, (op, tensor, offsets, mask) in zip(made, accesses, strict=True):
            states = np.repeat([run[0] for run in event["lanes"]], [run[2] for run in event["lanes"]])
            truth = np.where(mask, np.where(offsets < SIZES[name], "on", "outside"), "masked")
            drawn = expand([run[1:] for run in event["lanes"]])
            if (event["op"], event["tensor"], event["shape"]) != (op, tensor, list(mask.shape)):
                wrong.append(f"the {op} of {tensor} in program {number}")
            elif not (np.array_equal(drawn, offsets) and np.array_equal(states, truth)):
                wrong.append(f"the lanes of the {op} of {tensor} in program {number}")
    return wrong


def test_every_trace_has_a_formula_and_every_run_its_trace():
    folder = records.BAKED / "cpu" / "traces"
    files = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.json")}
    assert files == set(FORMULAS) == {name for name, _ in trace.runs()}


@pytest.mark.parametrize("name", FORMULAS)
def test_offsets_and_masks_are_those_of_the_formula(name: str):
    assert faults(name, committed(name)) == []


@pytest.mark.parametrize("name", FORMULAS)
def test_any_shifted_event_is_found(name: str):
    good = committed(name)
    places = [
        (p, e, field)
        for p, program in enumerate(good["programs"])
        for e, event in enumerate(program["events"])
        for field in ("runs", "lanes")
        if field in event
    ]
    assert len(places) >= 4 * PROGRAMS[name]
    for p, e, field in places:
        shifted = copy.deepcopy(good)
        run = shifted["programs"][p]["events"][e][field][0]
        run[0 if field == "runs" else 1] += 1
        assert faults(name, shifted), f"program {p}, event {e}"


@pytest.mark.parametrize("name", FORMULAS)
def test_a_mask_that_is_one_lane_off_is_found(name: str):
    shifted = copy.deepcopy(committed(name))
    load = next(event for event in shifted["programs"][-1]["events"] if event["op"] == "load")
    on, masked = load["lanes"]
    on[2], masked[1], masked[2] = on[2] + 1, masked[1] + 1, masked[2] - 1
    assert faults(name, shifted)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_trace_is_small(name: str):
    assert len(gzip.compress(records.record_path("cpu", "trace", name).read_bytes())) < 30_000


@pytest.mark.parametrize("program", range(4))
def test_add_values(program: int):
    events = committed("first_kernel/add")["programs"][program]["events"]
    x, y, out, stored = (values(event) for event in events if "values" in event)
    undefined = 256 * program + np.arange(256) >= 1000
    for block in (x, y, out, stored):
        np.testing.assert_array_equal(np.isnan(block), undefined)
    np.testing.assert_array_equal(out, x + y)
    np.testing.assert_array_equal(stored, out)
    assert [event["adds"] for event in events if "adds" in event] == [["x", "y"]]


@pytest.mark.parametrize("program", range(4))
def test_softmax_values(program: int):
    found = committed("fused_softmax/row")
    events = {step(event): event for event in found["programs"][program]["events"]}
    x = values(events["load:x"])
    assert np.all(np.isfinite(x[:13])) and np.all(x[13:] == -np.inf) and events["load:x"]["other"] == "-inf"
    numerator = np.exp(x - x.max())
    expected = {"max": x.max(), "numerator": numerator, "sum": numerator.sum(), "y": numerator / numerator.sum()}
    for name, value in expected.items():
        np.testing.assert_allclose(values(events[name]), np.atleast_1d(value), rtol=1e-3, err_msg=name)
    stored = values(events["store:y"])
    np.testing.assert_array_equal(stored[:13], values(events["y"])[:13])
    assert np.all(np.isnan(stored[13:]))


@pytest.mark.parametrize("name", FORMULAS)
def test_each_event_lights_the_statement_it_comes_from(name: str):
    found = committed(name)
    assert found["source"][0] == "@triton.jit" and not any("#" in line for line in found["source"])
    for event in (event for program in found["programs"] for event in program["events"]):
        line = found["source"][event["line"] - 1]
        assert event["text"] in line if "text" in event else line.strip().startswith(f"{event['name']} = ")


@pytest.mark.parametrize("name", FORMULAS)
def test_recording_again_gives_the_same_bytes(name: str):
    stored, again = committed(name), trace.record(name)
    assert json.dumps({key: stored[key] for key in again}) == json.dumps(again), "renew it with: python scripts/trace.py"


# What the committed runs do not show: lanes outside their tensor, and blocks of two dimensions.

TWO_DIMENSIONS = """
import json
import torch, triton, triton.language as tl
from scripts.recorder import record

@triton.jit
def tile_kernel(x_ptr, rows, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    # A comment of its own line must not shift the lines.
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    x_ptrs = x_ptr + m[:, None] * columns + n[None, :]
    x = tl.load(x_ptrs, mask=(m[:, None] >= 0) & (
        n[None, :] < columns))

buffer = torch.zeros(100)
x = buffer[:15].view(3, 5)
run = lambda: tile_kernel[(2, 2)](x, 3, 5, BLOCK_M=2, BLOCK_N=4)
print(json.dumps(record(tile_kernel, run, {"x": x})))
"""


def test_two_dimensions_and_lanes_outside_the_tensor(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(TWO_DIMENSIONS)
    environment = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(records.ROOT)}
    result = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    found = json.loads(result.stdout)
    assert found["grid"] == [2, 2] and [p["id"] for p in found["programs"]] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    _, _, pointers, load = found["programs"][3]["events"]
    assert (pointers["name"], pointers["tensor"], pointers["line"]) == ("x_ptrs", "x", 5)
    assert (load["line"], load["last_line"], load["shape"], load["into"]) == (6, 7, [2, 4], "x")
    assert load["lanes"] == [["on", 14, 1, 0], ["masked", 15, 3, 1], ["outside", 19, 1, 0], ["masked", 20, 3, 1]]


# The picture for readers without scripts


@pytest.mark.parametrize("name", FORMULAS)
def test_the_static_picture_has_the_counts_of_the_formula(name: str):
    picture = trace.fallback_html(committed(name))
    rows = picture.split('<div class="still-row">')[1:]
    assert len(rows) == PROGRAMS[name]
    for number, row in enumerate(rows):
        mask = FORMULAS[name](number)[1][0][3]
        masked = int((~mask).sum())
        assert f"Program {number}<" in row
        assert re.findall(r"(\d+) lanes are masked off", row) == ([str(masked)] if masked else [])
        widths = [float(width) for width in re.findall(r"width:([\d.]+)%", row)]
        assert widths == pytest.approx([100 * share for share in (mask.mean(), 1 - mask.mean()) if share], abs=1e-3)


def test_the_static_picture_names_the_elements():
    assert "Loads x[768] to x[999] and y[768] to y[999], stores out[768] to out[999]; 24 lanes are masked off." in (
        trace.fallback_html(committed("first_kernel/add"))
    )
    assert "Loads x[1, 0] to x[1, 12], stores y[1, 0] to y[1, 12]; 3 lanes are masked off." in (
        trace.fallback_html(committed("fused_softmax/row"))
    )


@pytest.mark.parametrize("name", FORMULAS)
def test_the_element_is_one_line_of_html(name: str):
    found = committed(name)
    element = trace.element_html(name, found, "../../baked/trace.json")
    assert element.count("\n") == 1 and element.startswith("<figure") and element.endswith("</figure>\n")
    assert f'<program-stepper src="../../baked/trace.json">{trace.fallback_html(found)}</program-stepper>' in element
