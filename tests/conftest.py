"""Kernels run under Triton's interpreter where there is no CUDA device, and on the GPU where there is one."""

import os

import pytest

from tests import interpreter, language

LOOK_AT_THE_SITE = ("tests/browser/", "tests/docs/test_site.py", "tests/docs/test_engines.py", "tests/docs/test_lessons.py")
APART = ("tests/browser/test_every_page.py", "tests/docs/test_lessons.py")
# What `make test-long` runs: the built site in a browser, the blocks of deeper pages, published programs and blocks alone, every
# chart drawn and recordings made once more, all of this in the page's Python (each by turns), the specimens of the labs and the
# picker compiled, a specimen of every kernel compiled and held against its record, the mutants' scores, what Triton says to
# the programs of the error index, and what becomes of all
# records when code is changed in one place.
LONG = (
    *LOOK_AT_THE_SITE,
    "tests/docs/test_pages.py::test_a_page_runs[docs/deeper/",
    "tests/docs/test_pages.py::test_a_page_runs[docs/errors/",
    "tests/docs/test_pages.py::test_a_page_runs[docs/reference/outside",
    "tests/snippets/test_programs.py",
    "tests/snippets/test_blocks.py::test_every_block",
    "tests/snippets/test_landscape.py",
    "tests/snippets/test_capstone.py::test_a_mistake",
    "tests/records/test_charts",
    "tests/records/test_messages.py::test_every_program",
    "tests/records/test_mutants.py",
    "tests/records/test_traces",
    "tests/scripts/test_migrate.py",
    "tests/labs/test_compiles.py",
    "tests/runtime/test_programs.py::test_a_listed_program",
    "tests/runtime/test_recordings.py::test_a_recording",
    "tests/runtime/test_checker.py::test_every_kernel",
    "tests/runtime/test_labs.py::test_an_unsolved_lab",
    "tests/kernels/test_compiles.py::test_records_say",
    "tests/records/test_fresh.py::test_a_changed",
    "tests/records/test_fresh.py::test_changed_words",
    "tests/records/test_fresh.py::test_moved_files",
    "tests/records/test_fresh.py::test_a_function_given",
    "tests/records/test_fresh.py::test_a_reworded_import",
    "tests/scripts/test_digest.py::test_a_published_program",
)
# What takes longest, the longest first: it is begun first, so that at the end no worker has long to go while the other waits.
HEAVIEST = (
    *LOOK_AT_THE_SITE,
    "tests/docs/test_pages.py",
    "tests/kernels/test_softmax.py",
    "tests/snippets/test_programs.py",
    "tests/records/test_fresh.py",
    "tests/records/test_charts.py",
    "tests/kernels/test_rotary_embedding.py",
    "tests/kernels/test_norm.py",
    "tests/kernels/test_cross_entropy.py",
    "tests/kernels/test_operators.py",
    "tests/scripts/test_bake.py",
    "tests/labs/",
    "tests/records/test_traces",
    "tests/snippets/test_landscape.py",
    "tests/kernels/",
    "tests/snippets/",
)

try:
    import torch
except ImportError:
    if os.environ.get("CI"):
        raise
    torch = None

if torch is not None and torch.cuda.is_available():
    os.environ.pop("TRITON_INTERPRET", None)
elif torch is not None:
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is first imported

try:
    import triton
except ImportError:
    if os.environ.get("CI"):
        raise
    triton = None

if torch is not None and triton is not None and not torch.cuda.is_available():
    language.language()  # while no kernel has run: some modules of tests run one when they are imported
    interpreter.refuse_bf16_arithmetic()


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(LONG):
            item.add_marker("long")
    if hasattr(config, "workerinput"):  # one of several workers
        items.sort(key=lambda item: next((at for at, file in enumerate(HEAVIEST) if item.nodeid.startswith(file)), len(HEAVIEST)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """For `--dist loadfile`: one worker runs all tests of a file, and one all that look at the built site, heavy ones first.

    What such tests share (a chart drawn, a site built, a browser) is then made once. The tests that open every page, and
    those that read all lessons, are apart from the others that look at the site, which would be the last to end with them.
    """
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # keep the order of the collection

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "the site" if file.startswith(LOOK_AT_THE_SITE) and file not in APART else file

    return ByFile(config, log)


def pytest_report_header() -> str:
    if torch is None or triton is None:
        return "kernels: their tests are left out, because torch or triton is not installed"
    where = torch.cuda.get_device_name() if torch.cuda.is_available() else "the CPU, under Triton's interpreter"
    return f"kernels: triton {triton.__version__}, torch {torch.__version__}, on {where}"


@pytest.fixture(scope="session")
def device() -> str:
    """Where kernels run here."""
    return "cuda" if torch.cuda.is_available() else "cpu"
