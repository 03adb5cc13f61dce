"""The command that says whether torch, Triton and NumPy fit one another, and its page."""

import importlib.util
import re
import subprocess
import sys

import pytest

from scripts import ROOT

FILE = ROOT / "docs" / "assets" / "check_install.py"
specification = importlib.util.spec_from_file_location("check_install", FILE)
check = importlib.util.module_from_spec(specification)
specification.loader.exec_module(check)


@pytest.mark.parametrize(
    "versions",
    [("2.13.0+cpu", "3.7.1", "2.4.6"), ("2.11.0", "3.6.0", "2.3.5"), ("2.14.1", "3.8.0", "2.4.6"), ("2.15.0", "3.9.0", "2.4.6")],
)
def test_pairs_that_fit_pass(versions):
    assert check.faults(*versions) == []


@pytest.mark.parametrize(
    ("versions", "says"),
    [
        (("2.13.0", "3.6.0", "2.3.5"), "made for Triton 3.7, not 3.6"),
        (("2.15.0", "3.7.1", "2.4.6"), "made for Triton 3.9, not 3.7"),
        (("2.12.0", "3.7.1", "2.4.6"), "belongs to torch 2.13, not 2.12"),
        (("2.11.0", "3.6.0", "2.4.6"), "numpy<2.4"),
        (("2.5.1", "3.1.0", "2.0.0"), "3.6 or newer"),
        (("2.13.0", "", "2.4.6"), "triton not installed"),
    ],
)
def test_others_are_refused_with_what_to_do(versions, says):
    (line,) = check.faults(*versions)
    assert says in line and "pip install" in line


def test_another_project_of_the_same_import_name_is_refused_beside_the_library():
    (line,) = check.shared_folder("0.1.0", "0.10.4")
    assert "0.10.4, another project" in line and "pip uninstall blockwise-kernels kernels" in line
    assert check.shared_folder("0.1.0", "") == check.shared_folder("", "0.10.4") == []


def test_the_command_passes_here():
    done = subprocess.run([sys.executable, FILE], capture_output=True, text=True)
    assert done.returncode == 0 and "They fit." in done.stdout, done.stdout


def test_the_page_names_the_same_pairs():
    page = (ROOT / "docs" / "reference" / "compatibility.md").read_text(encoding="utf-8")
    assert check.INSTALL in page and "assets/check_install.py" in page
    named = re.findall(
        r"(2\.1\d)\.\d[^.]*?(?:asks for|for|with) Triton (3\.\d)\.\d|(2\.1\d)\.\d for (3\.\d)|(2\.1\d)\.\d for\s+(3\.\d)", page
    )
    pairs = {tuple(part for part in match if part) for match in named}
    assert pairs <= set(check.PAIRS.items()) and len(pairs) >= 2
