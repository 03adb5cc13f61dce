"""The dance's ledger against the laws of its two kernels, and against recordings that were tampered with."""

import copy
import re
from html import unescape

import pytest

from scripts.pages import memory_traffic as dance
from scripts.pages.memory_traffic import DANCES, Count
from scripts.provenance.environment import measured_on

N, SIDE = 4000, 128
ENVIRONMENT = {
    "gpu": "NVIDIA H200",
    "driver": "1",
    "cuda": "2",
    "torch": "3",
    "triton": "4",
    "measured_at": "2026-01-02T03:04:05Z",
}


def add_law(block: int) -> Count:
    """Every element of two vectors is read once and one is written, 4 bytes each; three blocks are on chip at once."""
    programs = -(-N // block)
    return Count(programs, 3 * programs, 2 * 4 * N, 4 * N, 1.0, 3 * 4 * block)


def matmul_law(block: int) -> Count:
    """A program reads a row of tiles and a column of tiles; a and b are on chip in 2 bytes a number, the sums in 4."""
    tiles = SIDE // block
    programs, rounds = tiles**2, tiles
    loaded = programs * rounds * 2 * block**2 * 2
    return Count(programs, programs * (2 * rounds + 1), loaded, 2 * SIDE**2, SIDE / block, (2 + 2 + 4) * block**2)


LAWS = {"add": add_law, "matmul": matmul_law}


@pytest.mark.parametrize("name", DANCES)
def test_what_is_counted_from_the_recordings_follows_the_law(name: str):
    for block, trace in dance.traces(DANCES[name]).items():
        assert dance.count(trace) == LAWS[name](block), block


def test_bytes_stay_for_add_and_fall_for_matmul():
    assert len({dance.count(trace).moved for trace in dance.traces(DANCES["add"]).values()}) == 1
    moved = [dance.count(trace).loaded for trace in dance.traces(DANCES["matmul"]).values()]
    assert [before / after for before, after in zip(moved, moved[1:], strict=False)] == [2, 2, 2]


def test_a_lost_a_masked_and_a_doubled_trip_are_counted():
    good = dance.traces(DANCES["add"])[512]
    lost, masked, doubled = (copy.deepcopy(good) for _ in range(3))
    for trace in (lost, masked, doubled):
        events = trace["programs"][0]["events"]
        load = next(event for event in events if event["op"] == "load")
        if trace is lost:
            events.remove(load)
        elif trace is masked:
            load["lanes"][0][0] = "masked"
        else:
            events.append(load)
    base = dance.count(good)
    assert (dance.count(lost).trips, dance.count(lost).loaded) == (base.trips - 1, base.loaded - 2048)
    assert (dance.count(masked).trips, dance.count(masked).loaded) == (base.trips, base.loaded - 2048)
    assert (dance.count(doubled).trips, dance.count(doubled).loaded) == (base.trips + 1, base.loaded + 2048)


def rows_of(name: str) -> list[tuple[dict, dict]]:
    made = DANCES[name]
    key = {"op": made.op, "direction": "fwd", "shape": made.shape, "dtype": made.dtype}
    times = [{**key, "timing": "call", "implementation": f"block_{n}", "ms": [0, n / 1000, 0]} for n in made.blocks[1:]]
    others = [{**times[0], "timing": "graph", "ms": [0, 9, 0]}, {**times[0], "op": "another", "ms": [0, 9, 0]}]
    return [(row, ENVIRONMENT) for row in [*times, *others]]


def cells(element: str) -> dict[str, list[str]]:
    lines = re.findall(r'<tr data-block="(\d+)">(.*?)</tr>', element)
    return {block: re.findall(r"<t[hd][^>]*>([^<]*)", line) for block, line in lines}


@pytest.mark.parametrize("name", DANCES)
def test_the_ledger_holds_counts_and_measured_times(name: str):
    element = dance.element_html(name, rows_of(name), "../../")
    for n in DANCES[name].blocks:
        law = LAWS[name](n)
        told = [
            str(n),
            *(f"{value:,}" for value in (law.programs, law.trips, law.moved)),
            f"{law.repeats:g}",
            f"{law.footprint:,}",
        ]
        assert cells(element)[str(n)] == [*told, "" if n == DANCES[name].blocks[0] else f"{n:,} µs"]
    caption = re.sub(r"<[^>]+>", "", re.findall(r"<figcaption>(.*)</figcaption>", element)[0])
    assert measured_on(ENVIRONMENT) in unescape(caption) and DANCES[name].measured in caption


@pytest.mark.parametrize("name", DANCES)
def test_without_a_measurement_no_time_is_told(name: str):
    element = dance.element_html(name, [], "../../")
    assert "µs" not in element and "Measured" not in element and "time on" not in element
    assert all(len(line) == 6 for line in cells(element).values())


@pytest.mark.parametrize("name, words", [("add", "Every size moves the same 48,000 bytes"), ("matmul", "for 557,056 bytes")])
def test_the_caption_says_what_the_counts_say(name: str, words: str):
    assert words in dance.element_html(name, [], "")


@pytest.mark.parametrize(
    "name, words", [("add", "Loads x[0] to x[511] and y[0] to y[511], stores"), ("matmul", "a[0:32, 0:128] in 4 parts")]
)
def test_the_still_picture_shows_one_program(name: str, words: str):
    element = dance.element_html(name, [], "")
    still = element[element.index('<div class="stepper still">') : element.index('<div class="dance-ledger')]
    assert words in still and "On chip: program 0" in still and "In memory (HBM)" in still
    assert element.count("\n") == 1 and element.endswith("</figure>\n")
