"""The finished capstone's tests on a machine: what they came to, part by part."""

import json
import sys

import pytest

from scripts import finished, prepare
from scripts.pages import capstone

TESTS = {
    "tests/test_1_survey.py": "from pytest import skip\ndef test_a(): pass\ndef test_b(): skip('needs: a CUDA GPU')\n",
    "tests/test_2_add.py": "def test_c(): pass\n",
}


@pytest.fixture
def keep(monkeypatch, tmp_path):
    """A function that runs a tree of files in place of the capstone, and gives the status and what was kept."""
    monkeypatch.setattr(prepare, "figures", dict)

    def run(files):
        monkeypatch.setattr(capstone, "tree", lambda *_: files)
        monkeypatch.setattr(sys, "argv", ["finished.py", "capstone", "--keep", str(tmp_path / "kept.json")])
        status = finished.main()
        return status, json.loads((tmp_path / "kept.json").read_text()) if (tmp_path / "kept.json").exists() else None

    return run


def test_passed_and_skipped_tests_are_counted_by_part(keep, capsys):
    parts = {"test_1_survey": {"passed": 1, "skipped": 1}, "test_2_add": {"passed": 1}}
    assert keep(TESTS) == (0, {"figures": {"parts": parts, "passed": 2, "skipped": 1}})
    assert capsys.readouterr().out == "1_survey: 1 passed, 1 skipped\n2_add: 1 passed\n"


@pytest.mark.parametrize("wrong", ["def test_c(): assert False\n", "import nothing_of_that_name\n"])
def test_a_part_that_fails_leaves_no_record(keep, capsys, wrong):
    assert keep(TESTS | {"tests/test_2_add.py": wrong}) == (1, None)
    assert "test_2_add.py" in capsys.readouterr().err


def test_no_tests_are_no_success(keep):
    assert keep({"README.md": "nothing"}) == (1, None)
