"""The recorder on kernels of every form it knows, against NumPy: tiles, loops, products, views, atomics, stray pointers."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from scripts.pages import stepper
from scripts.provenance import records
from tests.records.formulas import Formula, Step
from tests.records.trace_rules import Trace, faults, unnoticed


def interpreted(program: Path) -> Trace:
    environment = os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(records.ROOT)}
    result = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def recorded() -> Trace:
    return interpreted(Path(__file__).with_name("recorded_kernels.py"))


def tile(m: np.ndarray, n: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    m, n = m[:, None], n[None, :]
    return m * columns + n, (m < rows) & (n < columns)


def copy_tile(i: int, j: int) -> Iterator[Step]:
    m, n = 4 * i + np.arange(4), 4 * j + np.arange(4)
    offsets, mask = tile(m, n, 6, 10)
    yield "m", m
    yield "n", n
    yield "offsets", offsets
    yield "mask", mask
    yield "load x", offsets, mask
    yield "store y", offsets, mask


def transpose(i: int, j: int) -> Iterator[Step]:
    m, n = 4 * i + np.arange(4), 4 * j + np.arange(4)
    yield "pid_m", i
    yield "pid_n", j
    yield "m", m
    yield "n", n
    yield "load x", *tile(m, n, 6, 10)
    yield ("y",)
    yield "store y", *tile(n, m, 10, 6)


def sum_rows(i: int) -> Iterator[Step]:
    m = 4 * i + np.arange(4)
    yield "m", m
    yield "total", np.zeros(4)
    for start in (0, 4, 8):
        n = start + np.arange(4)
        _, mask = tile(m, n, 6, 10)
        yield "loop start", start
        yield "n", n
        yield "mask", mask
        yield "load x", m[:, None] + 6 * n[None, :], mask
        yield ("sum",)
        yield ("total",)
    yield ("max",)
    yield "store y", m, m < 6


def matmul(i: int, j: int) -> Iterator[Step]:
    m, n = 16 * i + np.arange(16), 16 * j + np.arange(16)
    yield "m", m
    yield "n", n
    yield "c", np.zeros(256)
    for start in (0, 16, 32):
        k = start + np.arange(16)
        yield "loop start", start
        yield "k", k
        yield "load a", *tile(m, k, 24, 40)
        yield "load b", *tile(k, n, 40, 20)
        yield ("dot",)
    yield "store c", *tile(m, n, 24, 20)


def nested(_: int) -> Iterator[Step]:
    yield "n", np.arange(8)
    for i in (0, 1):
        yield "loop i", i
        yield "loop j", 0
        yield "load x", np.arange(8)
        yield "store y", np.arange(8)


FORMULAS = {
    "copy": Formula(copy_tile, (2, 3), {"x": 60, "y": 60}),
    "transpose": Formula(transpose, (2, 3), {"x": 60, "y": 60}),
    "sum_rows": Formula(sum_rows, (2,), {"x": 60, "y": 6}),
    "matmul": Formula(matmul, (2, 2), {"a": 960, "b": 800, "c": 480}),
    "nested": Formula(nested, (1,), {"x": 2 * np.arange(10), "y": 10}),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_recording_is_what_the_formula_says(name: str, recorded: Trace):
    assert faults(FORMULAS[name], recorded[name]) == []
    assert unnoticed(FORMULAS[name], recorded[name]) == []


def events(found: Trace, op: str, program: int = 0) -> list[Trace]:
    return [event for event in found["programs"][program]["events"] if event["op"] == op]


def test_a_loop_gives_its_variable_and_its_lines(recorded: Trace):
    for name, variables in {"sum_rows": "start", "matmul": "start", "nested": "ij"}.items():
        found = recorded[name]
        for event in events(found, "loop"):
            assert event["name"] in variables and found["source"][event["line"] - 1].lstrip().startswith(
                f"for {event['name']} in"
            )
            assert found["source"][event["until"] - 1].startswith("        ") and event["until"] > event["line"]


def test_a_product_gives_its_shapes_and_the_sum_so_far(recorded: Trace):
    found = recorded["matmul"]
    products = events(found, "dot", 3)
    assert [(e["of"], e["shape"], e["into"], e["dtype"]) for e in products] == [([[16, 16], [16, 16]], [16, 16], "c", "fp32")] * 3
    (stored,) = events(found, "store", 3)
    kept = [value for value in stored["values"].split() if value != "?"]
    assert len(kept) == 8 * 4 and kept[:4] == products[-1]["values"].split()[:4]


def test_a_reduction_along_an_axis_gives_axis_and_result(recorded: Trace):
    rounds = events(recorded["sum_rows"], "sum")
    loads = events(recorded["sum_rows"], "load")
    for load, event in zip(loads, rounds, strict=True):
        block = np.array(load["values"].split(), dtype=float).reshape(4, 4)
        assert (event["axis"], event["shape"], event["result"]) == (1, [4, 4], [4])
        np.testing.assert_array_equal(np.array(event["values"].split(), dtype=float), block.sum(axis=1))
    (largest,) = events(recorded["sum_rows"], "max")
    assert largest["into"] == "largest" and "result" not in largest, "one value, and one event for it"


def test_atomics_give_where_and_what_but_not_what_was_there_before(recorded: Trace):
    for number, program in enumerate(recorded["histogram"]["programs"]):
        *_, load, atomic = program["events"]
        offsets = 16 * number + np.arange(16)
        assert atomic["op"] == "atomic_add" and atomic["tensor"] == "counts" and atomic["into"] == "before"
        bins = [int(value) for value in load["values"].split() if value != "?"]
        assert stepper.offsets_of(atomic, "on") == bins and stepper.lanes_in(atomic, "masked") == int((offsets >= 50).sum())
        assert atomic["values"].split() == ["1" if offset < 50 else "?" for offset in offsets]


def test_a_transpose_says_of_what(recorded: Trace):
    assert [event.get("transposes") for event in events(recorded["transpose"], "set")][-1] == "x"


def test_a_view_keeps_its_strides_and_names_its_elements(recorded: Trace):
    view = recorded["sum_rows"]["tensors"]["x"]
    assert view["shape"] == [6, 10] and view["strides"] == [1, 6] and "strides" not in recorded["sum_rows"]["tensors"]["y"]
    assert stepper.element("x", view, 6 * 9 + 5) == "x[5, 9]" and stepper.element("x", view, 60) == "x + 60"
    sliced = recorded["nested"]["tensors"]["x"]
    assert stepper.element("x", sliced, 4) == "x[2]" and stepper.element("x", sliced, 3) == "x + 3"
    assert stepper.element("x", {"shape": [3, 4], "strides": [0, 1]}, 2) == "x[0, 2]"
    (load, _) = events(recorded["nested"], "load")
    assert load["values"].split()[::2] != [] and "?" not in load["values"], "what lies between a view's elements is known"


def test_repeated_rows_are_coded_once(recorded: Trace):
    load = events(recorded["matmul"], "load")[0]
    assert load["lanes"] == [[16, 40, [["on", 0, 16, 1]]]]
    assert stepper.unrolled(load["lanes"]) == [["on", 40 * row, 16, 1] for row in range(16)]


def test_the_words_of_a_tile_name_its_slice(recorded: Trace):
    words = stepper.fallback_html(recorded["transpose"])
    assert "Loads x[4:6, 8:10], stores y[8:10, 4:6]; 12 lanes are masked off." in words
    assert "Loads a[0:16, 0:40] in 3 parts and b[0:40, 0:16] in 3 parts" in stepper.fallback_html(recorded["matmul"])


@pytest.mark.parametrize("cells", [set(), {0}, {0, 1, 4, 5}, {1, 2, 3, 4, 5, 9}, set(range(12)), {0, 5, 10}])
def test_rectangles_cover_cells_exactly_once(cells: set[int]):
    covered = [
        4 * (y + h) + x + w for x, y, width, height in stepper.rectangles(cells, 4) for h in range(height) for w in range(width)
    ]
    assert sorted(covered) == sorted(cells)
    assert all(x + width <= 4 for x, _, width, _ in stepper.rectangles(cells, 4))


TWO_DIMENSIONS = """
import json
import torch, triton, triton.language as tl
from scripts.recording.recorder import record

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
    found = interpreted(program)
    assert found["grid"] == [2, 2] and [p["id"] for p in found["programs"]] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    _, _, pointers, load = found["programs"][3]["events"]
    assert (pointers["name"], pointers["tensor"], pointers["line"]) == ("x_ptrs", "x", 5)
    assert (load["line"], load["last_line"], load["shape"], load["into"]) == (6, 7, [2, 4], "x")
    assert load["lanes"] == [["on", 14, 1, 0], ["masked", 15, 3, 1], ["outside", 19, 1, 0], ["masked", 20, 3, 1]]
