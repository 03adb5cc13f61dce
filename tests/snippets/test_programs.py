"""Every published program runs alone on a CPU, or says in one line what it needs."""

import pytest

from tests import turns
from tests.docs import pages
from tests.docs.pages import ROOT
from tests.snippets import program_runs
from tests.snippets.program_runs import foreign_imports, needs_of, verdict

PROGRAMS = [path.relative_to(ROOT / "snippets").as_posix() for path in sorted((ROOT / "snippets").rglob("*.py"))]
PROGRAMS = [name for name in PROGRAMS if not name.endswith("__init__.py")]
PUBLISHED = ROOT / "docs" / "programs"


@pytest.fixture(scope="module", autouse=True)
def prepared():
    pages.prepare()


# The record of each, which is fresh, is of a run of the same code; that it runs from its one file is asked of a sixth, by turns.
@pytest.mark.parametrize("name", [name for name in PROGRAMS if turns.due(f"snippets/{name}", 6)])
def test_a_program_runs_alone(name, tmp_path):
    text = (PUBLISHED / name).read_text(encoding="utf-8")
    assert verdict(text, needs_of(text), program_runs.run(PUBLISHED / name, tmp_path)) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_imports_only_what_readers_have(name):
    assert foreign_imports((PUBLISHED / name).read_text(encoding="utf-8")) == []


def test_every_published_program_comes_from_a_snippet():
    assert sorted(path.relative_to(PUBLISHED).as_posix() for path in PUBLISHED.rglob("*.py")) == PROGRAMS


NEEDS = "# needs: cuda\nimport sys\n"
FAULTS = {
    "an error": ("raise ValueError('x')\n", "status 1"),
    "a silent interpreter": ("import triton\n", "interpreter runs its kernels"),
    "another status": (f"{NEEDS}print('needs: cuda')\nsys.exit(1)\n", "not 2"),
    "no exit": (f"{NEEDS}print('needs: cuda')\n", "not 2"),
    "two lines": (f"{NEEDS}print('needs: cuda')\nprint('sorry')\nsys.exit(2)\n", "in one line"),
    "no reason": (f"{NEEDS}print('sorry')\nsys.exit(2)\n", "in one line"),
    "the library": ("from kernels.add import add\n", "status 1"),
}


@pytest.mark.parametrize("text, message", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_reported(tmp_path, text, message):
    program = tmp_path / "program.py"
    program.write_text(text, encoding="utf-8")
    problems = verdict(text, needs_of(text), program_runs.run(program, tmp_path))
    assert len(problems) == 1 and message in problems[0]


def test_a_program_that_hangs_is_reported(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    assert "did not end" in verdict("", "", program_runs.run(program, tmp_path, seconds=0.5))[0]


def test_a_program_sees_nothing_of_the_one_before(tmp_path):
    marks = "import os, sys, torch, triton\ntorch.mark = sys.mark = 1\nos.environ['MARK'] = 'x'\nopen('mark', 'w').close()\n"
    looks = "import os, sys, torch\nprint(hasattr(torch, 'mark'), hasattr(sys, 'mark'), 'MARK' in os.environ, "
    looks += "'triton' in sys.modules, os.listdir(), __name__, sys.argv[1:], sorted(n for n in globals() if n[0] != '_'))\n"
    runs = []
    for name, text in {"first": marks, "second": looks}.items():
        folder = tmp_path / name
        folder.mkdir()
        program = tmp_path / f"{name}.py"
        program.write_text(text, encoding="utf-8")
        runs.append(program_runs.run(program, folder))
    assert [run.status for run in runs] == [0, 0]
    assert runs[1].output == ["False False False False [] __main__ [] ['os', 'sys', 'torch']"]


def test_a_program_that_turns_the_interpreter_on_too_late_does_not_find_it_on(tmp_path):
    switch = "import os, torch\nif not torch.cuda.is_available():\n    os.environ[\"TRITON_INTERPRET\"] = \"1\"\n"
    late = "import triton\nfrom triton.runtime.jit import JITFunction\n@triton.jit\ndef f(): pass\nprint(type(f).__name__)\n"
    found = {}
    for name, text in {"first": switch + late, "late": late.replace("from", f"{switch}from", 1)}.items():
        (tmp_path / name).mkdir()
        program = tmp_path / f"{name}.py"
        program.write_text(text, encoding="utf-8")
        found[name] = (program_runs.turns_interpreter_on(text), program_runs.run(program, tmp_path / name).output)
    assert found["first"] == (True, ["InterpretedFunction"])
    assert not found["late"][0]


def test_foreign_imports_are_reported():
    text = "import os, torch.nn\nfrom kernels.add import add\nfrom . import x\nif 1:\n    import einops\n"
    assert foreign_imports(text) == [".", "einops", "kernels"]
