"""The records of the compiler lens: one a kernel, of today's code, small, without paths, whose lines lead to the source."""

import json
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts import ROOT, lens
from scripts.launches import SPECIMENS
from scripts.pages import lens as page
from scripts.pages import lens_excerpts
from scripts.provenance import records, sources
from scripts.provenance.follow import Code
from scripts.reading.specimens import TARGETS, kernels, shown
from scripts.reading.text import lines_of, read_back, written

CODE = Code()
FOUND = {record["name"]: record for record in page.read_all()}
MADE = {name: page.made_of(record) for name, record in FOUND.items()}
# So many lines with code become something, of all kernels and of each: the others are constants, and branches not taken.
COVERED, COVERED_OF_EACH = 0.75, 0.25
LARGEST, ALL = 150_000, 8_000_000  # bytes of a kernel's text and of all, compressed
AGAIN = ("negate_kernel", "softmax_kernel")


def test_every_kernel_has_a_record_and_no_other_has():
    assert sorted(FOUND) == sorted(kernels()), "python scripts/lens.py --stale makes those that are missing; delete the others"


@pytest.mark.parametrize("name", kernels())
def test_record_is_of_this_code(name):
    record = FOUND[name]
    assert sources.is_fresh(record, CODE), f"older than its code: python scripts/lens.py {name} renews it"
    assert lens.is_of_these_launches(record), f"not of today's launches: python scripts/lens.py {name} renews it"


def test_the_published_texts_are_small():
    sizes = {name: len(page.packed(record)) for name, record in FOUND.items()}
    assert max(sizes.values()) <= LARGEST and sum(sizes.values()) <= ALL, sorted(sizes.items(), key=lambda one: -one[1])[:3]


def test_a_text_says_all_that_was_made():
    for name in AGAIN:
        assert read_back(written(name, MADE[name])) == MADE[name]


def test_no_record_holds_a_path_of_a_machine():
    for name, made in MADE.items():
        text = json.dumps(made["launches"])
        assert " loc(" not in text, name
        assert not re.search(r'"?/(home|tmp|work|root|usr|opt)/|site-packages|\.py\\?":', text), name
        assert str(ROOT) not in text
        # What a kernel asserts or prints is bytes in PTX; a path would be "kernels/" spelled so.
        assert "107, 101, 114, 110, 101, 108, 115, 47" not in text, name


def test_lines_lead_into_the_source_and_come_from_most_of_it():
    lines, placed, code, covered = 0, 0, 0, 0
    for name, made in MADE.items():
        source = [line.rstrip() for part in made["listing"] for line in part["lines"]]
        for number, launch in enumerate(made["launches"]):
            for stage in launch.get("stages", {}):
                at = [int(line.partition(" ")[0]) for line in lines_of(made, stage, number)]
                assert all(0 <= one <= len(source) for one in at), (name, launch["target"], stage)
                lines, placed = lines + len(at), placed + sum(map(bool, at))
        reached = {int(line.partition(" ")[0]) for stage in made["launches"][0]["stages"].values() for line in stage}
        found = [number for number, line in enumerate(source, 1) if re.match(r"\s+[^#\s].*(=|tl\.|gl\.)", line)]
        statements = {number for number in found if not source[number - 1].endswith((":", ","))}
        code, covered = code + len(statements), covered + len(reached & statements)
        assert len(statements) < 5 or len(reached & statements) >= COVERED_OF_EACH * len(statements), name
    assert covered >= COVERED * code and placed >= COVERED * lines


def test_every_target_is_there_and_says_what_it_takes():
    for name, record in MADE.items():
        launches = record["launches"]
        assert [one["target"] for one in launches[:4]] == list(TARGETS), name
        for one in launches:
            assert ("figures" in one) != ("refused" in one) and (one["target"] == "gfx942" or "figures" in one), name
        assert launches[0]["passes"]["count"] >= len(launches[0]["passes"]["changed"]) > 0, name


def test_layouts_cover_their_block():
    """Every element has a holder: the steps of all bits span the block, copies counted once."""
    for name, record in MADE.items():
        for layout in record["launches"][0].get("layouts", []):
            spanned = {tuple(0 for _ in layout["shape"].split("x"))}
            for steps in layout["bases"].values():
                for step in (tuple(map(int, one.split(","))) for one in steps.split()):
                    if step not in spanned:
                        spanned |= {tuple(a ^ b for a, b in zip(one, step, strict=True)) for one in spanned}
            count = 1
            for side in layout["shape"].split("x"):
                count *= int(side)
            assert len(spanned) == count, (name, layout["name"])


def test_a_changed_kernel_makes_its_lens_stale(tmp_path):
    shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
    shutil.copytree(ROOT / "snippets", tmp_path / "snippets")
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    file = tmp_path / "kernels/softmax/softmax.py"
    text = file.read_text(encoding="utf-8")
    assert sources.is_fresh(FOUND["softmax_kernel"], Code(tmp_path))
    file.write_text(text.replace("tl.max(x, axis=0)", "tl.min(x, axis=0)", 1), encoding="utf-8")
    assert text != file.read_text(encoding="utf-8") and not sources.is_fresh(FOUND["softmax_kernel"], Code(tmp_path))
    assert sources.is_fresh(FOUND["negate_kernel"], Code(tmp_path))


def test_a_new_launch_makes_a_record_stale():
    record = FOUND["negate_kernel"]
    other = record | {"launches": [record["launches"][0] | {"launch": {}}, *record["launches"][1:]]}
    assert lens.is_of_these_launches(record) and not lens.is_of_these_launches(other)


@pytest.fixture(scope="module")
def again():
    jobs = [[(name, [one for one in shown(name) if not one.version])] for name in AGAIN]
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        return dict(item for part in pool.map(lambda job: lens.ask(sys.executable, job), jobs) for item in part.items())


@pytest.mark.parametrize("name", AGAIN)
def test_the_same_comes_out_again(name, again):
    made = again[name]
    kept = MADE[name] | {"launches": MADE[name]["launches"][: len(made["launches"])]}
    if made["launches"][0]["triton"] == kept["launches"][0]["triton"]:
        assert made == kept
    else:
        assert made["launches"][0]["stages"].keys() == kept["launches"][0]["stages"].keys()


def test_the_machine_code_that_is_shown_is_what_the_figures_are_of():
    """Assembling once more, for its places, changes nothing: the compiled record counts the same registers."""
    for name, record in FOUND.items():
        path = records.record_path("cpu", "compiled", name)
        figures = {(one["specimen"], one["target"]): one["registers"] for one in records.read(path)["specimens"]}
        for one in record["launches"]:
            expected = figures.get((f"{name}/{one['label']}", one["target"]))
            if expected and one["triton"] == record["launches"][0]["triton"]:
                assert one["figures"]["registers"] == expected, (name, one["label"], one["target"])


def test_excerpts_are_found_and_a_missing_one_stops_the_build():
    assert len(lens_excerpts.INSTRUCTIONS) == 12 and lens_excerpts.files([]) == {}
    assert all(lens_excerpts.files([*FOUND.values()]).values())
    made = MADE["softmax_kernel"]
    first = made["launches"][0]
    without = first | {"stages": first["stages"] | {"ptx": ["0 nothing"]}}
    with pytest.raises(records.RecordError, match="no line of softmax_kernel"):
        lens_excerpts.instruction(MADE | {"softmax_kernel": made | {"launches": [without]}}, "barrier")


def test_every_kernel_of_the_table_is_a_text():
    table = page.table_html([*FOUND.values()], "../data/lens/")
    assert re.findall(r'data-kernel="(\w+)"', table) == sorted(FOUND)
    assert {specimen.function for specimen in SPECIMENS} == {*FOUND}
