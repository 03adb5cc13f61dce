"""The charts: a pure function of the records, fit to stand in a page. The records here are made up."""

import copy
import functools
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.axes import Axes

from scripts import charts
from scripts.drawing.curves import LIMIT
from scripts.drawing.spots import row_of
from scripts.pages import formats
from scripts.provenance import records
from tests import turns
from tests.records.made_up import of_charts

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"
VARIANTS = ("wide", "narrow")
PROPERTIES = {"ink", "muted", "rule", "paper", "panel", "memory", "chip", "ours", "limit"} | {f"peer-{n}" for n in (1, 2, 3, 4)}
RECORDS = of_charts()
# Drawn from the figures that a record keeps beside its times: their own tests change them.
FROM_FIGURES = {"autograd_losses", "autotune_repeat", "block_model_order", "capstone_library", "fold_digits", "landscape"}
FROM_FIGURES |= {"landscape_dtypes", "precision_errors", "precision_sums", "training_peaks", "training_step"}


@pytest.fixture(scope="module", params=charts.CHARTS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@functools.cache
def drawing(name: str) -> dict[str, Any]:
    return charts.draw(name, RECORDS)


@pytest.fixture(scope="module")
def drawn(name: str) -> dict[str, Any]:
    return drawing(name)


def trees(drawn: dict[str, Any]) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(drawn[variant]) for variant in VARIANTS]


def flat(sidecar: dict[str, Any]) -> set[Any]:
    return {cell for row in sidecar["rows"] for cell in row}


@turns.taken(3, *turns.files("scripts/drawing/**/*.py"))
def test_other_settings_and_hash_seeds_give_the_same_bytes(tmp_path):
    for record in RECORDS.values():
        records.write(records.record_path("made-up", "program", record["name"], tmp_path / "baked"), record)
    (tmp_path / "matplotlibrc").write_text("font.size: 31\nlines.linewidth: 9\naxes.facecolor: red\nsvg.fonttype: path\n")
    program = (
        "import json, sys; from pathlib import Path; from scripts import charts;"
        "texts = charts.files('made-up', Path(sys.argv[1]));"
        "print(json.dumps({path.name: text for path, text in texts.items()}))"
    )
    variables = {**os.environ, "PYTHONPATH": str(records.ROOT), "PYTHONHASHSEED": "7"}
    variables |= {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc")}
    command = [sys.executable, "-c", program, str(tmp_path / "baked")]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert len(found) == 3 * len(charts.CHARTS)
    for name in charts.CHARTS:
        assert [found[f"{name}.{variant}.svg"] for variant in VARIANTS] == [drawing(name)[variant] for variant in VARIANTS]
        assert json.loads(found[f"{name}.json"]) == drawing(name)["sidecar"]


def test_committed_charts_are_what_the_committed_records_give():
    for folder in sorted(path for path in records.BAKED.glob("*") if path.is_dir()):
        expected = {path.name: text for path, text in charts.files(folder.name).items()}
        found = {path.name: path.read_text(encoding="utf-8") for path in (charts.DRAWN / folder.name).glob("*")}
        differ = sorted(file for file in expected.keys() | found.keys() if expected.get(file) != found.get(file))
        renew = f"python scripts/charts.py --machine {folder.name}"
        assert not differ, f"{folder.name}: {', '.join(differ)} differ from what the records give; run {renew}"


def test_the_table_holds_every_number_drawn(name, drawn, monkeypatch):
    """Of each line the numbers along one axis are the measured ones: as they stand in the table, or rounded as there."""
    sidecar, plotted = drawn["sidecar"], []
    cells, plot = flat(sidecar), Axes.plot

    def held(values: Any) -> bool:
        return all(
            value != value or any(near in cells for near in (value, *(round(value, d) for d in (1, 4, 9)))) for value in values
        )

    def watch(axes: Axes, *values: Any, **options: Any) -> Any:
        plotted.append(values)
        assert held(values[0]) or held(values[1]), values[:2]
        return plot(axes, *values, **options)

    monkeypatch.setattr(Axes, "plot", watch)
    assert charts.draw(name, copy.deepcopy(RECORDS)) == drawn, "the same records give the same bytes"
    assert bool(plotted) == (name not in ("softmax_traffic", "softmax_passes"))
    assert all(len(row) == len(sidecar["columns"]) for row in sidecar["rows"])
    assert json.loads(json.dumps(sidecar)) == sidecar


PICTURE = "softmax_passes"


def test_every_row_has_its_place_in_both_drawings(drawn):
    """All but the limits, which are lines, and what failed: those lack a value."""
    rows, spots = drawn["sidecar"]["rows"], drawn["sidecar"]["spots"]
    if drawn["sidecar"]["name"] == PICTURE:
        assert spots == {}, "a picture has no marks, and says its numbers itself"
        return
    for variant, root in zip(VARIANTS, trees(drawn), strict=True):
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        places = [[float(part) for part in spot.split()] for spot in spots[variant]]
        assert all(0 <= x <= width for place in places for x in place[1::2])
        assert all(0 <= y <= height for place in places for y in place[2::2])
        numbers = [int(place[0]) for place in places]
        assert numbers == sorted(numbers)
        assert all(None in row or LIMIT in row for number, row in enumerate(rows) if number not in numbers)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_row_s_place_is_where_it_is_drawn(variant):
    sidecar = drawing("softmax_rows")["sidecar"]
    places = [[float(part) for part in spot.split()] for spot in sidecar["spots"][variant]]
    rows = [sidecar["rows"][int(number)] for number, *_ in places]
    for name, axis in (("row length", 1), ("bandwidth at p50 (GB/s)", 2)):
        values = [row[sidecar["columns"].index(name)] for row in rows]
        ends = [place[axis] for _, place in sorted(zip(values, places, strict=True))]
        assert ends == sorted(ends, reverse=axis == 2)


def test_a_mark_that_tells_no_row_from_another_is_refused():
    with pytest.raises(ValueError, match=r"stand in 2 rows of the chart's table"):
        row_of(("a", 1), [["a", 1, 2], ["b", 1, 2], ["a", 1, 3]])


@pytest.mark.parametrize("name", ["add_bandwidth", "memory_working_set", "memory_strides", "softmax_ladder", "softmax_rows"])
def test_the_table_holds_the_limit(name):
    assert 4000.0 in flat(charts.draw(name, RECORDS)["sidecar"])


def test_the_traffic_table_holds_every_kernel_and_the_chart_shows_each():
    drawn = charts.draw("softmax_traffic", RECORDS)
    counters = RECORDS["fused_softmax/traffic"]["counters"]
    counts = [tuple(row[3:5]) for row in drawn["sidecar"]["rows"]]
    assert counts == [(row["dram_read_bytes"], row["dram_write_bytes"]) for row in counters]
    words = [text.text or "" for text in ElementTree.fromstring(drawn["narrow"]).iter(f"{SVG}text")]
    assert any(text.startswith("5 kernels") for text in words)
    assert sum(text.startswith("1 kernel,") for text in words) == 2


def picture(drawn: dict[str, Any], variant: str) -> str:
    """A drawing without the words that describe it."""
    return re.sub(r"<desc.*?</desc>", "", drawn[variant], flags=re.DOTALL)


def shown(name: str, changed: dict[str, Any]) -> bool:
    """Whether a changed record changes a chart. What changes its table changes both its drawings, and the other way."""
    before, after = drawing(name), charts.draw(name, changed)
    differ = {picture(before, variant) != picture(after, variant) for variant in VARIANTS}
    differ |= {before["sidecar"]["rows"] != after["sidecar"]["rows"]}
    assert len(differ) == 1, "a number is in the table and not in the drawings, or the other way"
    return differ == {True}


def changing(source: str) -> dict[str, Any]:
    """The records, of which one may be changed."""
    return RECORDS | {source: copy.deepcopy(RECORDS[source])}


@pytest.mark.parametrize("name", sorted(charts.CHARTS.keys() - FROM_FIGURES))
def test_changed_numbers_change_the_chart(name):
    for source in charts.CHARTS[name][1]:
        changed = changing(source)
        for place, row in enumerate(changed[source].get("measurements", [])):
            row["ms"] = [(1.2 + place % 7 / 10) * part for part in row["ms"]]  # ratios change, too
        for place, row in enumerate(changed[source].get("drawn", {}).get("cases", [])):
            row["ms"]["blockwise"] = [(1.2 + place % 7 / 10) * part for part in row["ms"]["blockwise"]]
        if not RECORDS[source].get("measurements"):
            for row in changed[source].get("counters", []):
                row["dram_read_bytes"] *= 2
        assert shown(name, changed) or "figures" in RECORDS[source], source


def test_every_color_is_a_property_of_the_page(drawn):
    for variant in VARIANTS:
        used = set(re.findall(r"var\(--bw-([\w-]+), #[0-9a-f]{6}\)", drawn[variant]))
        assert used <= PROPERTIES
        assert "muted" in used
        bare = re.sub(r"var\(--bw-[\w-]+, #[0-9a-f]{6}\)", "var", drawn[variant])
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?!-)", re.sub(r'href="#[^"]*"|url\(#[^)]*\)', "", bare))
        paints = re.findall(r"(?:fill|stroke): ?([^;\"]+)", bare) + re.findall(r'(?:fill|stroke)="([^"]+)"', bare)
        assert set(paints) <= {"var", "none"}
        assert "font-family: var(--bw-sans, sans-serif)" in bare
        assert "DejaVu" not in bare


def test_ids_are_the_chart_s_own_and_every_reference_resolves():
    seen: list[str] = []
    for name in charts.CHARTS:
        drawn = drawing(name)
        for variant, root in zip(VARIANTS, trees(drawn), strict=True):
            ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
            assert all(found.startswith(f"{name}-{variant}-") for found in ids)
            assert not any("href" in element.attrib for element in root.iter())  # instant navigation would touch it
            wanted = {element.attrib[XLINK][1:] for element in root.iter() if XLINK in element.attrib}
            wanted |= set(re.findall(r"url\(#([^)]+)\)", drawn[variant])) | set(root.attrib["aria-labelledby"].split())
            assert wanted == set(ids)
            seen += ids
    assert len(seen) == len(set(seen))


def test_a_chart_can_stand_in_a_page(drawn):
    for variant, root in zip(VARIANTS, trees(drawn), strict=True):
        assert drawn[variant].startswith("<svg ")
        assert root.attrib["role"] == "img"
        assert root.attrib["width"] == "100%"
        assert root.attrib["viewBox"].split()[2] == {"wide": "720", "narrow": "360"}[variant]
        assert [root[0].tag, root[0].text] == [f"{SVG}title", drawn["sidecar"]["title"]]
        assert [root[1].tag, root[1].text] == [f"{SVG}desc", drawn["sidecar"]["alt"]]
        assert not list(root.iter(f"{SVG}style")), "a style sheet inside one chart would reach the whole page"
        assert len(gzip.compress(drawn[variant].encode())) < 12_000


def test_nothing_of_the_machine_that_drew_it_is_kept(drawn):
    text = json.dumps(drawn)
    assert str(records.ROOT) not in text
    assert str(Path.home()) not in text or str(Path.home()) == "/"
    assert set(re.findall(r"https?://[^\"\\ ]+", text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "matplotlib" not in text.lower()


def test_the_smallest_type_of_the_narrow_drawing_is_legible(drawn):
    root = ElementTree.fromstring(drawn["narrow"])

    def sizes_under(element, size):
        found = re.search(r"font-size: ([\d.]+)px|^([\d.]+)$", element.get("font-size") or element.get("style", ""))
        size = float(found[1] or found[2]) if found else size
        return [size] * (element.tag == f"{SVG}text") + [each for child in element for each in sizes_under(child, size)]

    sizes = sizes_under(root, None)
    assert None not in sizes, "words without a size of their own or of their group"
    assert min(sizes) * 360 / float(root.attrib["viewBox"].split()[2]) >= 11


@pytest.mark.parametrize("path", sorted(charts.DRAWN.glob("*/*_shapes.*.svg")), ids=lambda path: path.stem)
def test_the_numbers_of_a_scale_stand_apart(path):
    lines: dict[str, list[tuple[float, str]]] = {}
    for text in ElementTree.parse(path).iter(f"{SVG}text"):
        if re.fullmatch(r"[\d.,]+×?", text.text or ""):
            lines.setdefault(text.attrib["y"], []).append((float(text.attrib["x"]), text.text or ""))
    assert lines
    for numbers in map(sorted, lines.values()):
        for (left, first), (right, second) in zip(numbers, numbers[1:], strict=False):
            assert right - left > 6 * (len(first) + len(second)) / 2, f"{first} runs into {second}"


def test_a_record_without_what_a_chart_needs_is_named():
    without = {**RECORDS, "fused_softmax/traffic": {**RECORDS["fused_softmax/traffic"], "extra": {}}}
    with pytest.raises(records.RecordError, match=r"softmax_traffic cannot be drawn: fused_softmax/traffic lacks 'matrix_bytes'"):
        charts.draw("softmax_traffic", without)


def test_losses_are_said_in_words():
    changed = changing("fused_softmax/benchmark")
    for row in changed["fused_softmax/benchmark"]["measurements"]:
        if row["implementation"] == "liger":
            row["ms"] = [0.1 * part for part in row["ms"]]
    behind = charts.draw("softmax_shapes", changed)["sidecar"]["alt"]
    assert re.search(r"some peer is faster in [1-9]\d* of \d+ cases, at most in .*, where Liger-Kernel is at 0\.", behind)


@pytest.mark.parametrize(
    ("time", "words"), [(0.93456, "0.935\u00a0ms"), (1.1591, "1.16\u00a0ms"), (4.7509, "4.75\u00a0ms"), (30.04, "30.0\u00a0ms")]
)
def test_a_time_reads_in_a_chart_as_in_the_text(time, words):
    record = copy.deepcopy(RECORDS["fused_softmax/traffic"])
    record["counters"] = [{**row, "ms": time} for row in record["counters"][-1:]]
    assert formats.ms(1e3 * time) == words
    assert f", {words}." in charts.draw("softmax_traffic", {record["name"]: record})["sidecar"]["alt"]
