"""The picture of one shot and two: its table is what their sums say, and a changed record changes the drawing."""

import copy

import pytest

from scripts import charts
from scripts.provenance import records

WORLD = 4


def drawn(record):
    return charts.draw_picture("shots", {"several/traffic": record})


@pytest.fixture(scope="module")
def record():
    return records.read(charts.picture_record("several/traffic"))


def test_every_rank_learns_of_every_number(record):
    """Replayed with the real shares: after its moves each rank has each share of the sum, and nothing crosses twice."""
    rows = drawn(record)["sidecar"]["rows"]
    steps = {step: [row[1:] for row in rows if row[0] == step] for step in dict.fromkeys(row[0] for row in rows)}
    assert list(steps) == ["one shot, load", "two shots, load", "two shots, store"]
    others = {(begin, end) for begin in range(WORLD) for end in range(WORLD) if begin != end}
    for moves, part in zip(steps.values(), (1, 1 / WORLD, 1 / WORLD), strict=True):
        assert {(begin, end) for begin, end, _ in moves} == others and len(moves) == len(others)
        assert all(moved == part for _, _, moved in moves)
    summed = {end: {begin for begin, to, _ in steps["two shots, load"] if to == end} | {end} for end in range(WORLD)}
    known = {end: {begin for begin, to, _ in steps["two shots, store"] if to == end} | {end} for end in range(WORLD)}
    assert all(whose == set(range(WORLD)) for whose in (*summed.values(), *known.values()))


def test_the_caption_counts_what_arrives(record):
    caption = drawn(record)["sidecar"]["caption"]
    assert f"{WORLD - 1} tensors." in caption and f"{2 * (WORLD - 1) / WORLD:g} tensors arrive" in caption


@pytest.mark.parametrize("way", ["one_shot", "two_shot"])
def test_a_move_that_is_gone_is_gone_from_the_drawing(record, way):
    changed = copy.deepcopy(record)
    changed["figures"][way] = changed["figures"][way][1:]
    before, after = drawn(record), drawn(changed)
    assert all(before[variant] != after[variant] for variant in ("wide", "narrow"))
    assert len(after["sidecar"]["rows"]) == len(before["sidecar"]["rows"]) - 1
