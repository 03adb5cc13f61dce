"""The picture of the walks on the way back through attention, against a formula of its own."""

import copy
from typing import Any

import pytest

from scripts import charts
from scripts.drawing.pictures import PICTURES
from scripts.provenance import records

NAME = "attention_walks"


def sources() -> dict[str, dict[str, Any]]:
    return {source: records.read(records.BAKED / "cpu" / f"{source}.json") for source in PICTURES[NAME][1]}


def expected() -> list[list[Any]]:
    """A tile is walked by the program that owns its keys, or its queries; causal, those above the diagonal are not."""
    found: list[list[Any]] = []
    for mask in ("all pairs", "causal"):
        for owner in ("keys", "queries"):
            for own in range(4):
                tiles = [(other, own) if owner == "keys" else (own, other) for other in range(4)]
                walked = [f"{m}/{n}" for m, n in tiles if mask == "all pairs" or m >= n]
                found.append([mask, owner, own, ", ".join(walked)])
    return found


def test_a_program_walks_the_tiles_that_the_formula_says():
    assert charts.draw_picture(NAME, sources())["sidecar"]["rows"] == expected()


@pytest.mark.parametrize(("run", "tensor"), [("keys", "q"), ("queries", "k"), ("causal_keys", "q"), ("causal_queries", "k")])
def test_another_walk_is_another_picture(run, tensor):
    before, changed = charts.draw_picture(NAME, sources()), copy.deepcopy(sources())
    events = changed[f"traces/attention_backward/{run}"]["programs"][1]["events"]
    load = next(event for event in events if event["op"] == "load" and event["tensor"] == tensor)
    load["lanes"][0][2][0][1] += 8
    after = charts.draw_picture(NAME, changed)
    assert after["sidecar"]["rows"] != expected()
    for variant in ("wide", "narrow"):
        assert before[variant].partition("</desc>")[2] != after[variant].partition("</desc>")[2]
