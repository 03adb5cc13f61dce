"""The pictures of masks, rescaled sums, tiles of scores, sums over rows, kernels and a tile, against formulas of their own."""

import copy
import html
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scripts import charts
from scripts.drawing.chapters import softmax_passes
from scripts.drawing.pictures import PICTURES
from scripts.provenance import records
from tests.docs import pages
from tests.records.formulas import attention, grid_math, masking, norms

Rows = list[list[Any]]
FIVE = [-3, -1, -2, -5, -4]
RISING = [-1, 0.5, 1, -2, 2.5, 0, 1.75, -3, 4, 3.25]


def record(source: str) -> dict[str, Any]:
    return records.read(records.BAKED / "cpu" / f"{source}.json")


def rows(name: str, **changed: dict[str, Any]) -> Rows:
    sources = {source: changed.get(source.rpartition("/")[2], record(source)) for source in PICTURES[name][1]}
    return charts.draw_picture(name, sources)["sidecar"]["rows"]


def step(formula: Callable, name: str, *program: int) -> list[tuple]:
    return [tuple(given) for found, *given in formula(*program) if found == name]


def masked_lanes() -> Rows:
    """Without a mask every lane reads; with one only those below five, and the rest hold what `other` says, or nothing known."""
    expected = []
    ways = (("no mask", masking.unmasked, "?"), ("mask and other", masking.other, "−inf"), ("mask alone", masking.no_other, "?"))
    for way, formula, filler in ways:
        ((offsets, mask),) = step(formula, "load x", 0)
        for lane, (offset, bit) in enumerate(zip(offsets, np.broadcast_to(mask, offsets.shape), strict=True)):
            state = "masked" if not bit else "on" if offset < 5 else "outside"
            expected.append([way, lane, offset, state, str(FIVE[offset]).replace("-", "−") if state == "on" else filler])
    return [[way, lane, state, offset, held] for way, lane, offset, state, held in expected]


def rescaled_sum() -> Rows:
    """After every block: the maximum so far, the factor of the old sum, what the block adds, and the sum."""
    expected = []
    for program, row in enumerate((RISING, RISING[::-1])):
        for number, start in enumerate((0, 4, 8)):
            block, seen = np.array(row[start : start + 4]), np.array(row[: start + 4])
            before = max(row[:start], default=-np.inf)
            numbers, once = ", ".join(f"{x:g}" for x in block).replace("-", "−"), f"{before:g}".replace("-", "−")
            expected.append([
                program, number, numbers, once, seen.max(),
                np.exp(before - seen.max()), np.exp(block - seen.max()).sum(), np.exp(seen - seen.max()).sum(),
            ])  # fmt: skip
    return expected


def weighted_sum() -> Rows:
    """After every block: the maximum so far, the factor of all that is old, what a sum gains, and the sum seen whole."""
    expected = []
    for query in (0, 1):
        for number, start in enumerate((0, 4, 8)):
            end = min(start + 4, 10)
            scores = attention.K[start:end] @ attention.Q[query]
            (before, *_), (m, s, total) = attention.seen(query, start), attention.seen(query, end)
            weights = np.exp(scores - m)
            texts = ", ".join(f"{score:g}" for score in scores).replace("-", "−")
            added = [weights.sum(), *(weights @ attention.V[start:end])]
            for name, new, after in zip(("s", "total 0", "total 1"), added, (s, *total), strict=True):
                expected.append([query, number, texts, m, np.exp(before - m), name, new, after])
    return expected


def causal_tiles() -> Rows:
    """Ten tokens, four queries and two keys a tile, the last queries first; masked is what has a key after its first query."""
    expected = []
    for program, row in enumerate((8, 4, 0)):
        queries = range(row, min(row + 4, 10))
        for start in range(0, queries[-1] + 1, 2):
            pairs = [(query, key) for query in queries for key in (start, start + 1)]
            closed, masked = sum(key > query for query, key in pairs), "yes" if start + 2 > row else "no"
            expected.append([program, row, queries[-1], start, start + 1, masked, len(pairs), closed])
    return expected


def gradient_sums() -> Rows:
    expected = []
    for way, formula, event, programs in (
        ("atomic additions", norms.atomic, "atomic_add dweight", 5),
        ("partial sums", norms.staying, "store dweight", 2),
    ):
        for program in range(programs):
            ((offsets, mask),) = step(formula, event, program)
            taken = [int(offsets[0]) // 6 for offsets, _ in step(formula, "store dx", program)]
            touched = offsets[mask]
            expected.append([way, program, ", ".join(map(str, taken)), f"{touched[0]} to {touched[-1]}"])
    return expected


EXPECTED = {
    "masked_lanes": masked_lanes,
    "rescaled_sum": rescaled_sum,
    "weighted_sum": weighted_sum,
    "causal_tiles": causal_tiles,
    "gradient_sums": gradient_sums,
}


def same(found: Rows, expected: Rows) -> bool:
    """Recorded numbers have four digits."""
    pairs = [pair for rows in zip(found, expected, strict=True) for pair in zip(*rows, strict=True)]
    return all(a == b if isinstance(a, str) else a == pytest.approx(b, rel=1e-3, abs=1e-4) for a, b in pairs)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_picture_shows_what_its_formula_says(name):
    assert same(rows(name), EXPECTED[name]())


def shift(trace: dict[str, Any], op: str, tensor: str) -> None:
    event = next(e for program in trace["programs"] for e in program["events"] if (e["op"], e.get("tensor")) == (op, tensor))
    event["lanes"][0][1] += 6


def falsify(trace: dict[str, Any], op: str, name: str) -> None:
    event = [e for e in trace["programs"][0]["events"] if e["op"] == op and name in ("", e.get("name"))][-1]
    event["values"] = " ".join(str(float(value) + 0.5) for value in event["values"].split())


def unmask_a_tile(trace: dict[str, Any]) -> None:
    """As if the scores of the last program's last tile were set once only."""
    events = trace["programs"][-1]["events"]
    events.remove([event for event in events if event.get("name") == "scores"][-1])


def move_keys(trace: dict[str, Any]) -> None:
    event = next(event for event in trace["programs"][0]["events"] if event.get("name") == "keys")
    event["runs"][0][0] += 2


def unmask(trace: dict[str, Any]) -> None:
    for event in trace["programs"][0]["events"]:
        if event["op"] == "load":
            event["lanes"] = [["on", 0, 8, 1]]


CHANGES: list[tuple[str, str, Callable[[dict[str, Any]], None]]] = [
    ("masked_lanes", "unmasked", lambda trace: shift(trace, "load", "x")),
    ("masked_lanes", "other", unmask),
    ("masked_lanes", "no_other", unmask),
    ("rescaled_sum", "online", lambda trace: falsify(trace, "set", "s")),
    ("rescaled_sum", "online", lambda trace: falsify(trace, "set", "m")),
    ("rescaled_sum", "online", lambda trace: falsify(trace, "sum", "")),
    ("weighted_sum", "one_query", lambda trace: falsify(trace, "set", "s")),
    ("weighted_sum", "one_query", lambda trace: falsify(trace, "set", "total")),
    ("weighted_sum", "one_query", lambda trace: falsify(trace, "set", "m")),
    ("weighted_sum", "one_query", lambda trace: falsify(trace, "sum", "")),
    ("causal_tiles", "causal", unmask_a_tile),
    ("causal_tiles", "causal", move_keys),
    ("gradient_sums", "atomic", lambda trace: shift(trace, "atomic_add", "dweight")),
    ("gradient_sums", "atomic", lambda trace: shift(trace, "store", "dx")),
    ("gradient_sums", "staying", lambda trace: shift(trace, "store", "dweight")),
]


@pytest.mark.parametrize(("name", "run", "change"), CHANGES)
def test_a_shifted_event_is_not_what_the_formula_says(name, run, change):
    (source,) = (source for source in PICTURES[name][1] if source.endswith(f"/{run}"))
    changed = copy.deepcopy(record(source))
    change(changed)
    sources = {each: changed if each == source else record(each) for each in PICTURES[name][1]}
    before = charts.draw_picture(name, {each: record(each) for each in sources})
    after = charts.draw_picture(name, sources)
    assert not same(after["sidecar"]["rows"], EXPECTED[name]())
    for variant in ("wide", "narrow"):
        assert before[variant].partition("</desc>")[2] != after[variant].partition("</desc>")[2]


def passes(record: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Each kernel of the picture with the matrices that it reads and writes, in whole ones."""
    matrix = record["extra"]["matrix_bytes"]
    table = softmax_passes.softmax_passes(record).rows
    return [(does, round(read / matrix), round(written / matrix)) for _, does, _, read, _, written in table]


def test_the_five_kernels_carry_what_the_lesson_counts_by_hand():
    counted = [re.findall(r"(\w+) +reads (\d)\.\d, writes (\d)", line) for line in record("why_kernels/five_steps")["output"]]
    by_hand = [(name, int(read), int(written)) for found in counted for name, read, written in found]
    path = records.record_path("nvidia-h200", "program", "fused_softmax/traffic")
    measured = records.read(path)
    assert passes(measured) == [*by_hand, (", ".join(name for name, _, _ in by_hand), 1, 1)]
    changed = copy.deepcopy(measured)
    kernels = changed["counters"]
    kernels[0], kernels[1] = kernels[1], kernels[0]
    assert passes(changed) != passes(measured)


def test_the_explorer_of_a_tile_opens_on_a_recorded_program():
    """Its column, its row and its tile are those of program (1, 0) of the run, and its formula those of the run's formula."""
    still = (pages.ROOT / "docs" / "overrides" / "widgets" / "broadcast-explorer.html").read_text(encoding="utf-8")
    column, row = (
        [int(n) for n in re.findall(rf'<th scope="{axis}"[^>]*>(?:<small>[^<]*</small> )?(\d+)</th>', still)]
        for axis in ("row", "col")
    )
    tile = np.array([int(n) for n in re.findall(r'data-lane="\d+ \d+">(\d+)</td>', still)]).reshape(4, 4)
    trace = record("traces/grid_math/broadcast")
    (program,) = (each for each in trace["programs"] if each["id"] == [1, 0])
    event = next(event for event in program["events"] if event.get("name") == "x_offsets")
    ((times, step_down, ((first, count, step_right),)),) = event["runs"]
    recorded = first + step_down * np.arange(times)[:, None] + step_right * np.arange(count)[None, :]
    ((offsets, mask),) = step(grid_math.FORMULAS["broadcast"].steps, "load x", 1, 0)
    assert np.array_equal(tile, recorded) and np.array_equal(tile, offsets) and mask.all()
    assert np.array_equal(np.add.outer(column, row), tile)
    assert "rows[:, None] * stride_m + cols[None, :] * stride_n" in html.unescape(still)
