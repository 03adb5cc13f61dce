"""The chooser of a stack shows what its records hold, and says where they hold nothing."""

import re

import pytest

from scripts.pages import chooser, chooser_element
from scripts.provenance import records
from scripts.provenance.environment import primary_machine
from scripts.provenance.programs import snippet_names
from tests.docs.pages import ROOT
from tests.records.made_up import write_chooser

MACHINE = "made-up"
ROW = re.compile(r'<tr data-tool="(\w+)"[^>]*><th scope="row">([^<]*)</th><td>(.*?)</td></tr>')


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("baked")
    write_chooser(made, MACHINE)
    return made


@pytest.fixture(params=["made up", "real"])
def source(request, folder):
    return (MACHINE, folder) if request.param == "made up" else (primary_machine(), records.BAKED)


def record_of(key, machine, baked):
    path = records.record_path(machine, "program", chooser.PATTERNS[key]["program"], baked)
    return records.read(path) if path.exists() else None


def call_times(key, record):
    """The times of a pattern's case, looked up another way than the chooser does."""
    found = {}
    for row in record["measurements"]:
        if (
            row["timing"] == "call"
            and f"{row['op']} {row['direction']} {row['shape']} {row['dtype']}" == chooser.PATTERNS[key]["case"]
        ):
            found[row["implementation"]] = row["ms"]
    return found


def test_every_figure_is_a_record_s(source):
    for pattern in chooser.data(*source)["patterns"]:
        record = record_of(pattern["key"], *source)
        if record is None:
            assert all(row["ms"] is row["lines"] is row["speed"] is None and row["why"] for row in pattern["tools"])
            continue
        times = call_times(pattern["key"], record)
        assert times, f"{pattern['key']}: its record has no such case"
        for row in pattern["tools"]:
            assert row["lines"] == record["figures"]["lines"].get(row["tool"])
            assert row["ms"] == times.get(row["tool"])
            if row["ms"]:
                assert row["speed"] == pytest.approx(min(ms[1] for ms in times.values()) / row["ms"][1])
                assert not row["why"]
            else:
                assert row["speed"] is None and row["why"]
            assert row["build_seconds"] == (record["figures"].get(row["tool"]) or {}).get("build_seconds")


def test_the_tables_show_the_data(source):
    given = chooser.data(*source)
    for at, pattern in enumerate(given["patterns"]):
        shown = ROW.findall(chooser_element.section_html(given, at, "../../"))
        assert [(tool, name) for tool, name, _ in shown] == [(row["tool"], row["name"]) for row in pattern["tools"]]
        for (_, _, text), row in zip(shown, pattern["tools"], strict=True):
            lines, build, time, speed, _ = text.split("</td><td>")
            assert lines == ("not counted" if row["lines"] is None else str(row["lines"]))
            assert build == ("–" if row["build_seconds"] is None else f"{row['build_seconds']:.2f}\u00a0s")
            if row["ms"]:
                assert abs(float(time.removesuffix("\u00a0µs").replace(",", "")) - row["ms"][1] * 1e3) <= 0.501
                assert abs(int(speed.removesuffix("%")) - 100 * row["speed"]) <= 0.501
            else:
                assert time.startswith("not measured: ") and speed == "not measured"


def test_each_measured_tool_has_a_bar_as_long_as_its_time(source):
    for pattern in chooser.data(*source)["patterns"]:
        html = chooser_element.bars_html(pattern)
        measured = [row for row in pattern["tools"] if row["ms"]]
        parts = [float(part) for part in re.findall(r"--part:([\d.]+)", html)]
        slowest = max((row["ms"][1] for row in measured), default=1)
        assert parts == pytest.approx([row["ms"][1] / slowest for row in measured], abs=1e-4)
        assert html.count("not measured") == len(pattern["tools"]) - len(measured)


def test_what_is_missing_is_named(folder):
    given = {pattern["key"]: pattern for pattern in chooser.data(MACHINE, folder)["patterns"]}
    why = {key: {row["tool"]: row["why"] for row in pattern["tools"]} for key, pattern in given.items()}
    assert why["chain"]["triton"] == "relative error 1.0e+00"
    assert why["softmax"]["cuda"] == "no nvcc on the PATH"
    assert set(why["irregular"].values()) == {"no record of it yet"}
    assert "Not measured: Triton." in chooser_element.words_html(given["chain"])
    assert "The fastest is" not in chooser_element.words_html(given["irregular"])


def test_a_library_call_that_no_other_comes_near_is_said_to_be_the_shortest():
    rows = [
        {"name": "Library call", "lines": 2, "speed": 1.0, "ms": [1, 1, 1]},
        {"name": "Triton", "lines": 30, "speed": 0.5, "ms": [2, 2, 2]},
    ]
    words = chooser_element.words_html({"name": "A", "case": "b", "tools": rows})
    assert "Nothing shorter reaches 90% of its speed" in words


def test_where_times_overlap_nobody_is_ranked():
    rows = [
        {"name": "Library call", "tool": "eager", "lines": 2, "speed": 0.8, "ms": [1.2, 1.25, 1.3]},
        {"name": "Compiler", "tool": "compile", "lines": 3, "speed": 0.5, "ms": [1.9, 2, 2.1]},
        {"name": "Triton", "tool": "triton", "lines": 30, "speed": 0.9, "ms": [0.9, 1.1, 1.4]},
        {"name": "CUDA C++", "tool": "cuda", "lines": 90, "speed": 1.0, "ms": [0.8, 1, 1.2]},
    ]
    pattern = {"name": "A", "case": "b", "tools": rows}
    words = chooser_element.words_html(pattern)
    assert "The least median is that of CUDA C++" in words
    assert "overlap with those of Library call and Triton, so this ranks none of them." in words
    assert "best" not in chooser_element.bars_html(pattern)
    narrow = [row | {"ms": [row["ms"][1]] * 3} for row in rows]
    assert "The fastest is CUDA C++" in chooser_element.words_html(pattern | {"tools": narrow})
    level = [row | {"ms": [0.9, 1.01, 1.2]} if row["name"] == "Triton" else row | {"ms": [row["ms"][1]] * 3} for row in rows]
    assert "The fastest is CUDA C++" in chooser_element.words_html(pattern | {"tools": level})


def test_every_figure_leads_to_a_program_and_a_heading():
    for pattern in chooser.PATTERNS.values():
        assert pattern["program"] in snippet_names()
        page, anchor = pattern["chapter"].split("/#")
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        headings = [
            re.sub(r"[^\w\s-]", "", line.lstrip("# ")).strip().lower().replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("#")
        ]
        assert anchor in headings, (page, anchor)
        assert pattern["program"] in text


def test_the_element_is_one_line_and_small(source):
    element = chooser_element.element_html(chooser.data(*source), "../../")
    assert element.count("\n") == 1
    assert len(element) < 60_000
