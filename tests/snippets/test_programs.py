"""Every published program runs alone on a CPU, or says in one line what it needs."""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.docs import pages
from tests.docs.pages import ROOT
from tests.snippets import program_runs
from tests.snippets.program_runs import Run, foreign_imports, needs_of, verdict

PROGRAMS = [path.relative_to(ROOT / "snippets").as_posix() for path in sorted((ROOT / "snippets").rglob("*.py"))]
PROGRAMS = [name for name in PROGRAMS if not name.endswith("__init__.py")]
PUBLISHED = ROOT / "docs" / "programs"


@pytest.fixture(scope="module", autouse=True)
def prepared():
    pages.prepare()


@pytest.fixture(scope="module")
def run_of(request, prepared, tmp_path_factory) -> Callable[[str], Run]:
    """The run of a program. Two go at a time, except in a worker process, whose neighbors run the others."""

    def start(name: str) -> Run:
        return program_runs.run(PUBLISHED / name, tmp_path_factory.mktemp("reader"))

    if "PYTEST_XDIST_WORKER" in os.environ:
        yield start
        return
    wanted = [item.callspec.params["name"] for item in request.session.items if item.function is test_a_program_runs_alone]
    with ThreadPoolExecutor(2) as pool:
        runs: dict[str, Future[Run]] = {name: pool.submit(start, name) for name in wanted}
        yield lambda name: runs[name].result()
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_alone(name, run_of):
    text = (PUBLISHED / name).read_text(encoding="utf-8")
    assert verdict(text, needs_of(text), run_of(name)) == []


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


def test_foreign_imports_are_reported():
    text = "import os, torch.nn\nfrom kernels.add import add\nfrom . import x\nif 1:\n    import einops\n"
    assert foreign_imports(text) == [".", "einops", "kernels"]
