"""The pictures that explain: what each shows is what a formula of its own says, and a changed record changes the drawing."""

import copy
import functools
import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from scripts import charts
from scripts.drawing.pictures import PICTURES
from scripts.drawing.pictures.sheet import COLORS
from scripts.provenance import records
from scripts.recording.cases import quarters

VARIANTS = ("wide", "narrow")
Change = Callable[[dict[str, Any]], Any]


@functools.cache
def record(source: str) -> dict[str, Any]:
    return records.read(charts.picture_record(source))


@functools.cache
def drawn(name: str) -> dict[str, Any]:
    return charts.draw_picture(name, {source: record(source) for source in PICTURES[name][1]})


def rows(name: str) -> list[list[Any]]:
    return drawn(name)["sidecar"]["rows"]


def picture(drawing: dict[str, Any], variant: str) -> str:
    """A drawing without the words that describe it."""
    return re.sub(r"<desc.*?</desc>", "", drawing[variant], flags=re.DOTALL)


@pytest.mark.parametrize("name", charts.drawable())
def test_a_picture_can_stand_in_a_page(name):
    sidecar = drawn(name)["sidecar"]
    assert json.loads(json.dumps(sidecar)) == sidecar and all(len(row) == len(sidecar["columns"]) for row in sidecar["rows"])
    for variant in VARIANTS:
        text = drawn(name)[variant]
        root = ElementTree.fromstring(text)
        said = {element.get("id"): element.text for element in root if "id" in element.attrib}
        assert root.get("role") == "img" and list(said) == root.get("aria-labelledby", "").split()
        assert list(said.values()) == [sidecar["title"], sidecar["alt"]]
        width, height = map(float, root.get("viewBox", "").split()[2:])
        assert width == {"wide": 720, "narrow": 360}[variant] and height < 640
        used = re.findall(r"var\(--bw-([\w-]+), (#\w+)\)", text)
        assert used and all(COLORS[color] == value for color, value in used)
        bare = re.sub(r"var\(--bw-[\w-]+, #\w+\)", "", text)
        assert not re.search(r'"#|\d#|href|<style', bare) and len(text) < 40_000
        for words in root.iter("{http://www.w3.org/2000/svg}text"):
            assert 0 <= float(words.attrib["x"]) <= width and 0 <= float(words.attrib["y"]) <= height, words.text


def test_every_picture_stands_on_a_page():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (records.ROOT / "docs").rglob("*.md"))
    assert not [name for name in PICTURES if f'--8<-- "docs/generated/pictures/{name}.html"' not in text]


def test_lanes_are_given_out_four_to_a_thread_and_warp_by_warp():
    expected = []
    for part in range(8):
        warp, again = part % 4, part // 4
        threads = f"{32 * warp} to {32 * warp + 31}"
        expected.append([128 * part, 128 * part + 127, warp, threads, f"{4 * again} to {4 * again + 3}"])
    assert rows("block_lanes") == expected
    shown = re.findall(r">(\d+)</text>", drawn("block_lanes")["wide"])
    assert [*map(int, shown)] == [lane for lane in range(1024) if lane // 4 % 128 == 33]


def test_lanes_land_in_as_many_sectors_as_their_addresses_name():
    for stride, sectors, wanted, fetched, _ in rows("memory_sectors"):
        named = {4 * lane * stride // 32 for lane in range(32)}
        assert (sectors, wanted, fetched) == (len(named), 128, 32 * len(named))


def test_the_tile_walks_along_k_and_its_sum_grows_as_numpy_says():
    a, b = quarters(6, 10).numpy(), quarters(10, 7).numpy()
    assert [row[:5] for row in rows("product_walk")] == [[0, 0, 16, 16, 0], [1, 4, 16, 16, 0], [2, 8, 8, 8, 16]]
    sums = [float(np.dot(a[0, :end], b[:end, 0])) for end in (4, 8, 10)]
    assert [float(row[5]) for row in rows("product_walk")] == pytest.approx(sums, abs=6e-3)


def test_the_loop_orders_what_its_number_of_stages_says():
    """With n stages, n - 1 pairs are asked for before the first product and are on their way beside it; with one stage, none."""
    found = rows("stages_timeline")
    for stages in (1, 2, 3, 4):
        steps = [row[1:] for row in found if row[0] == stages]
        first_product = steps[0][3]
        assert sum(asked < first_product for _, asked, *_ in steps) == max(stages - 1, 1)
        assert max(row[-1] for row in steps) == stages - 1
        assert [row[-2] for row in steps] == [step % stages for step in range(len(steps))]
        for (_, asked, there, begins, ends, _, _), after in zip(steps, [*steps[1:], None], strict=True):
            assert asked < there < begins < ends and (after is None or begins < after[3])
            assert stages > 1 or after is None or ends < after[1], "with one stage nothing overlaps"
        ring = [row for row in steps if stages > 1]
        for one, later in zip(ring, ring[stages:], strict=False):
            assert one[4] < later[1], "a buffer is filled again only when its product is done"


def line_of(record: dict[str, Any], words: str, old: str, new: str) -> None:
    """Change the compiler's text in the last line that has some words."""
    place = max(i for i, line in enumerate(record["ttgir"]) if words in line)
    assert old in record["ttgir"][place]
    record["ttgir"][place] = record["ttgir"][place].replace(old, new)


def shift(record: dict[str, Any]) -> None:
    load = next(event for event in record["programs"][0]["events"] if event["op"] == "load")
    load["lanes"][0][-1][0][1] += 1


def swap(record: dict[str, Any]) -> None:
    """Wait for the tiles of a round only after its product began."""
    text = record["ttgir"]
    wait = max(i for i, line in enumerate(text) if "async_wait %" in line)
    product = max(i for i, line in enumerate(text) if "warp_group_dot %" in line)
    text[wait], text[product] = text[product], text[wait]


CHANGES: list[tuple[str, str, Change]] = [
    ("block_lanes", "layouts/lane_thread_kernel/call", lambda r: line_of(r, "#ttg.blocked", "[4]", "[2]")),
    ("block_lanes", "layouts/lane_thread_kernel/call", lambda r: line_of(r, "#ttg.blocked", "CTA = [4]", "CTA = [8]")),
    ("memory_sectors", "layouts/strided_kernel/call", lambda r: line_of(r, "arith.muli", "muli", "addi")),
    ("product_walk", "traces/matmul_ladder/tiles", shift),
    ("product_walk", "traces/matmul_ladder/tiles", lambda r: r["programs"][0]["events"].pop(next(
        i for i, event in enumerate(r["programs"][0]["events"]) if event["op"] == "dot"))),
    ("stages_timeline", "layouts/staged_matmul_kernel/stages_3", swap),
    ("stages_timeline", "layouts/staged_matmul_kernel/stages_3", lambda r: line_of(r, "async_wait %", "num = 2", "num = 0")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "source", "change"), CHANGES)
def test_a_changed_layout_or_a_shifted_event_changes_the_picture(name, source, change):
    changed = copy.deepcopy(record(source))
    change(changed)
    sources = {one: changed if one == source else record(one) for one in PICTURES[name][1]}
    after = charts.draw_picture(name, sources)
    for variant in VARIANTS:
        assert picture(after, variant) != picture(drawn(name), variant)
