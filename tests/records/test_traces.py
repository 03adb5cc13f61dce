"""Every committed trace against the kernel's formula, written again in NumPy; nothing here reads the kernel itself."""

import ast
import copy
import gzip
import json
import re
from functools import cache

import numpy as np
import pytest

from scripts.pages import on_chip, stepper
from scripts.provenance import records, sources
from scripts.recording.run import recorded
from tests import turns
from tests.records.formulas import why_kernels
from tests.records.trace_rules import FOLDER, Trace, expected, faults, formulas, programs, step, unnoticed, values

FORMULAS = formulas()
KNOWN = {"numpy", "math", "collections.abc", "dataclasses", "functools", "typing", "tests.records.formulas"}


@cache
def committed(name: str) -> Trace:
    return records.read(records.record_path("cpu", "trace", name))


def test_formulas_know_neither_recorder_nor_kernel():
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                named = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
                assert set(named) <= KNOWN, path.name


def test_every_trace_has_a_formula_and_every_run_its_trace():
    folder = records.BAKED / "cpu" / "traces"
    files = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.json")}
    assert files == set(FORMULAS) == set(sources.recorded_runs())


@pytest.mark.parametrize("name", FORMULAS)
def test_offsets_and_masks_are_those_of_the_formula(name: str):
    assert faults(FORMULAS[name], committed(name)) == []


@pytest.mark.parametrize("name", FORMULAS)
def test_any_shifted_event_is_found(name: str):
    assert unnoticed(FORMULAS[name], committed(name)) == []


@pytest.mark.parametrize("name", FORMULAS)
def test_a_step_that_is_lost_doubled_or_swapped_is_found(name: str):
    for change in (lambda e: e[:-1], lambda e: [*e, e[-1]], lambda e: [e[1], e[0], *e[2:]]):
        changed = copy.deepcopy(committed(name))
        changed["programs"][-1]["events"] = change(changed["programs"][-1]["events"])
        assert faults(FORMULAS[name], changed)


@pytest.mark.parametrize("chapter", sorted({name.partition("/")[0] for name in FORMULAS}))
def test_the_traces_of_a_page_are_small(chapter: str):
    paths = (records.BAKED / "cpu" / "traces" / chapter).glob("*.json")
    assert sum(len(gzip.compress(path.read_bytes())) for path in paths) < 30_000


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
    x = values(events["load x"])
    assert np.all(np.isfinite(x[:13])) and np.all(x[13:] == -np.inf) and events["load x"]["other"] == "-inf"
    numerator = np.exp(x - x.max())
    expected = {"max": x.max(), "numerator": numerator, "sum": numerator.sum(), "y": numerator / numerator.sum()}
    for name, value in expected.items():
        np.testing.assert_allclose(values(events[name]), np.atleast_1d(value), rtol=1e-3, err_msg=name)
    stored = values(events["store y"])
    np.testing.assert_array_equal(stored[:13], values(events["y"])[:13])
    assert np.all(np.isnan(stored[13:]))


def test_fused_values():
    for program in committed("why_kernels/fused")["programs"]:
        row, block = program["id"]
        events = program["events"]
        x, bias, *_, kept, stored = (values(event) for event in events if "values" in event)
        expected = why_kernels.gelu_dropout(x, bias, 12 * row + 8 * block + np.arange(8))
        np.testing.assert_allclose(kept, expected, rtol=2e-3, atol=1e-4)
        np.testing.assert_array_equal(np.isnan(stored), 8 * block + np.arange(8) >= 12)
        assert 0 < np.sum(expected == 0) < 8, "a block that keeps all or nothing shows no dropout"


@pytest.mark.parametrize("name", FORMULAS)
def test_each_event_lights_the_statement_it_comes_from(name: str):
    found = committed(name)
    assert found["source"][0] == "@triton.jit" and not any("#" in line for line in found["source"])
    for event in (event for program in found["programs"] for event in program["events"]):
        lines = found["source"][event["line"] - 1 : event.get("last_line", event["line"])]
        line = "\n".join(lines)
        start = f"for {event['name']} in " if event["op"] == "loop" else event.get("name", "")
        assert event["text"] in line if "text" in event else re.match(rf"{start}( [-+*/]?= )?", line.strip()), line


@pytest.mark.parametrize("name", turns.part(list(FORMULAS), 3, *turns.files("scripts/recording/**/*.py")))
def test_recording_again_gives_the_same_bytes(name: str):
    stored, again = committed(name), recorded(name)
    assert json.dumps({key: stored[key] for key in again}) == json.dumps(again), "renew it with: python scripts/trace.py"


# The picture for readers without scripts


@pytest.mark.parametrize("name", FORMULAS)
def test_the_static_picture_has_the_counts_of_the_formula(name: str):
    picture = stepper.fallback_html(committed(name))
    rows = picture.split('<div class="still-row">')[1:]
    steps = dict(zip(programs(FORMULAS[name]), expected(FORMULAS[name]), strict=True))
    assert len(rows) == min(len(steps), stepper.MOST_PROGRAMS)
    for (program, made), row in zip(list(steps.items())[: len(rows) - 1], rows, strict=False):
        accesses = [[*given, True][:2] for step, *given in made if " " in step and not step.startswith("loop ")]
        masked = {int((~np.broadcast_to(mask, offsets.shape)).sum()) for offsets, mask in accesses}
        assert f"Program {', '.join(map(str, program))}<" in row
        assert ("masked off" in row) == (masked != {0})
        if any(offsets.ndim > 1 for offsets, _ in accesses):
            assert row.count('class="map"') == len(FORMULAS[name].elements)
        elif len(accesses) == len({step for step, *_ in made if " " in step}):
            said = re.findall(r"(\d+) lanes? (?:are|is) masked off", row)
            assert set(said) == {str(count) for count in masked if count}
            assert len(masked) > 1 or len(said) <= 1
        if all(offsets.ndim == 1 for offsets, _ in accesses):
            widths = [float(width) for width in re.findall(r"width:([\d.]+)%", row)]
            share = np.mean(accesses[0][1])
            assert widths == pytest.approx([100 * part for part in (share, 1 - share) if part], abs=1e-3)


def test_the_static_picture_names_the_elements():
    assert "Loads x[768] to x[999] and y[768] to y[999], stores out[768] to out[999]; 24 lanes are masked off." in (
        stepper.fallback_html(committed("first_kernel/add"))
    )
    assert "Loads x[1, 0] to x[1, 12], stores y[1, 0] to y[1, 12]; 3 lanes are masked off." in (
        stepper.fallback_html(committed("fused_softmax/row"))
    )


@pytest.mark.parametrize("name", FORMULAS)
def test_the_element_is_one_line_of_html(name: str):
    found = committed(name)
    element = stepper.element_html(name, found, "../../baked/trace.json")
    assert element.count("\n") == 1 and element.startswith("<figure") and element.endswith("</figure>\n")
    assert '<program-stepper src="../../baked/trace.json"' in element
    assert f">{stepper.fallback_html(found)}</program-stepper>" in element


def test_only_a_record_of_the_same_blocks_says_that_they_stay_in_registers():
    registers, words = on_chip.kept(committed("first_kernel/add"))
    assert registers and words == "compiled with these blocks, it uses registers and no shared memory"
    small, words = on_chip.kept(committed("matmul_ladder/tiles"))
    assert not small and words.startswith("compiled with BLOCK_M = 64,") and "bytes of shared memory" in words
    other = committed("first_kernel/add") | {"arguments": {"n_elements": 1000, "BLOCK": 128}}
    assert on_chip.kept(other)[0] is False
