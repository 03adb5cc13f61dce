"""Every lab compiles for a GPU that is not here, and an unsolved one fails there as well as it does under the interpreter."""

import json
import os
import subprocess
import sys

import pytest

from scripts import ROOT
from scripts.provenance import labs


def compiled(name: str, kind: str, cache: str) -> list[list]:
    variables = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "tests.labs.compiling", name, kind]
    done = subprocess.run(
        command, cwd=ROOT, env=variables | {"TRITON_CACHE_DIR": cache}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", labs.names())
def test_a_solved_lab_compiles(name, tmp_path):
    found = compiled(name, "solved", str(tmp_path))
    assert len(found) == sum(cell.tag == "check" for cell in labs.cells_of(name))
    assert [(task, said) for task, launches, said in found if said or not launches] == []


@pytest.mark.parametrize("name", labs.names())
def test_the_compiler_s_complaint_about_an_unsolved_lab_names_the_line_that_is_missing(name, tmp_path):
    for task, launches, said in compiled(name, "unsolved", str(tmp_path)):
        # Where nothing is unset, the output is: a GPU shows that as NaN.
        assert launches if not said else "is used before any line sets it" in said, (task, said)
