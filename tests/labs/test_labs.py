"""Every lab, solved, passes its checks; unsolved, it fails at the first with a message, and at nothing worse."""

import re
import subprocess
import sys

import pytest

from scripts import ROOT
from scripts.labs import run
from scripts.provenance import labs

LABS = labs.names()


def test_there_are_labs():
    assert {"elementwise", "softmax", "matmul"} <= set(LABS)


@pytest.mark.parametrize("name", LABS)
def test_a_solved_lab_passes_every_check(name):
    cells = labs.version(labs.cells_of(name), True)
    ran = run(cells)
    assert len(ran.verdicts) == sum(cell.tag == "check" for cell in cells) > 0
    assert [verdict.message for verdict in ran.verdicts if not verdict] == []


@pytest.mark.parametrize("name", LABS)
def test_an_unsolved_lab_fails_every_check_and_says_what_is_missing(name):
    cells = labs.version(labs.cells_of(name), False)
    ran = run(cells)
    assert len(ran.verdicts) == sum(cell.tag == "check" for cell in cells)
    for verdict in ran.verdicts:
        assert not verdict
        assert re.search(r"is used before any line sets it|never written", verdict.message), verdict.message


@pytest.mark.parametrize("name", LABS)
def test_each_exercise_has_its_hint_and_its_check(name):
    tags = [cell.tag for cell in labs.cells_of(name) if cell.tag not in ("", "setup")]
    assert tags == ["exercise", "hint", "check"] * (len(tags) // 3)


@pytest.mark.parametrize("name", LABS)
def test_each_exercise_asks_for_what_its_solution_has(name):
    for cell in labs.cells_of(name):
        if cell.tag == "exercise":
            asked, solutions = cell.text.count("# YOUR TURN: "), cell.text.count("# [solution]")
            assert 1 <= asked == solutions == cell.text.count("# [/solution]")
            assert sum(len(lines.splitlines()) for lines in labs.SOLUTION.findall(cell.text + "\n")) <= 8


def test_a_fixed_grid_does_not_pass_where_triton_chooses_the_tiles():
    grid = 'grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))'
    cells = labs.version(labs.cells_of("matmul"), True)
    tuned = next(number for number, cell in enumerate(cells) if grid in cell.text)
    cells[tuned].text = cells[tuned].text.replace(grid, "grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))")
    cells[tuned].text = cells[tuned].text.replace('if device == "cpu":', "if True:")  # a GPU's choice might be 64 by 64
    kept = [cell for number, cell in enumerate(cells) if number < tuned and cell.tag in ("setup", "exercise")]
    ran = run([*kept, cells[tuned], next(cell for cell in cells[tuned:] if cell.tag == "check")])
    assert [verdict.passed for verdict in ran.verdicts] == [False]
    assert "never written" in ran.verdicts[0].message


PLANTED = {
    "text before the first cell": ("import os\n# %%\n", "labs.py|expected"),
    "a header that is none": ("# %% tags=['x']\n", "expected"),
    "an unknown tag": ('# %% tags=["exercises"]\n', "no such tag: exercises"),
}


@pytest.mark.parametrize("text, says", PLANTED.values(), ids=PLANTED)
def test_a_source_that_is_no_lab_is_refused(tmp_path, monkeypatch, text, says):
    monkeypatch.setattr(labs, "SOURCES", tmp_path)
    (tmp_path / "planted.py").write_text(text, encoding="utf-8")
    with pytest.raises(labs.LabError, match=says):
        labs.cells_of("planted")


def test_the_command_runs_a_solved_lab():
    command = [sys.executable, "scripts/labs.py", "--run", "elementwise"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("✓") == 5 and "✗" not in done.stdout
