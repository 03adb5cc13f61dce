"""The picture of two groups that take turns, from a made-up record: what it says is what counting single cycles says."""

import copy
import re
from typing import Any

import pytest

from scripts import charts
from scripts.drawing.pictures import PICTURES
from scripts.provenance import records

NAME = "attention_turns"
(SOURCE,) = PICTURES[NAME][1]
TILES = 7


def lane(begin: int, products: int, softmax: int) -> list[list[int]]:
    """Tile after tile: its turn, products issued, scores there, weights there, products done; then a pause of ten cycles."""
    every = products + softmax + 20
    starts = [begin + i * every for i in range(TILES)]
    return [[at, at + 5, at + products, at + products + softmax, at + products + softmax + 10] for at in starts]


def record() -> dict[str, Any]:
    clocks = {"turns": [lane(0, 100, 90), lane(110, 100, 90)], "free": [lane(0, 160, 90), lane(20, 160, 80)]}
    return {"name": "attention_gluon/timeline", "environment": {"gpu": "Made-up GPU"}, "figures": {"clocks": clocks}}


def drawn(given: dict[str, Any]) -> dict[str, Any]:
    return charts.draw_picture(NAME, {SOURCE: given})


def beside(lanes: list[list[list[int]]]) -> int:
    """The same share, cycle by cycle."""
    spent = [{cycle for tile in lane for cycle in range(tile[2], tile[3])} for lane in lanes]
    products = [{cycle for tile in lane for cycle in range(tile[0], tile[2])} for lane in lanes]
    both = len(spent[0] & products[1]) + len(spent[1] & products[0])
    return round(100 * both / (len(spent[0]) + len(spent[1])))


def test_every_tile_of_both_groups_stands_in_the_table():
    given = record()
    expected = [
        [words, g, i, *tile]
        for way, words in (("turns", "in turns"), ("free", "without turns"))
        for g, group in enumerate(given["figures"]["clocks"][way])
        for i, tile in enumerate(group, 1)
    ]
    assert drawn(given)["sidecar"]["rows"] == expected


def test_the_caption_counts_cycles_in_which_one_multiplies_beside_the_others_softmax():
    given = record()
    clocks = given["figures"]["clocks"]
    wanted = [str(beside(clocks[way])) for way in ("turns", "free")]
    assert re.findall(r"(\d+)%", drawn(given)["sidecar"]["caption"]) == wanted and wanted[0] != wanted[1]


@pytest.mark.parametrize("way", ["turns", "free"])
@pytest.mark.parametrize("event", [0, 2, 3])
def test_another_clock_is_another_picture(way, event):
    before, changed = drawn(record()), copy.deepcopy(record())
    changed["figures"]["clocks"][way][1][2][event] += 4
    after = drawn(changed)
    for variant in ("wide", "narrow"):
        assert before[variant].partition("</desc>")[2] != after[variant].partition("</desc>")[2]


@pytest.mark.parametrize("variant", ["wide", "narrow"])
def test_all_of_it_lies_on_the_sheet(variant):
    text = drawn(record())[variant]
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', text).groups())
    assert all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in re.findall(r'<text x="(\S+)" y="(\S+)"', text))
    assert all(0 <= float(x) < width and 0 <= float(y) < height for x, y in re.findall(r"M(\S+) (\d\S*?)[hvV]", text))


def test_without_its_record_it_is_not_drawn(tmp_path):
    assert NAME not in charts.drawable(tmp_path) and charts.picture_files(tmp_path, tmp_path) == {}
    whole = record() | {"schema": records.SCHEMA, "kind": "program", "hash": "0" * 64}
    records.write(charts.picture_record(SOURCE, tmp_path), whole)
    assert charts.drawable(tmp_path) == [NAME]
    assert {path.name.split(".")[0] for path in charts.picture_files(tmp_path, tmp_path)} == {NAME}
