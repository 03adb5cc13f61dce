"""Every program of the list prints with the stand-ins what it printed on PyTorch and Triton."""

import functools

import pytest

from runtime import measure
from scripts.pages import run_here
from scripts.provenance.follow import Code
from scripts.provenance.inline import inline
from tests import turns
from tests.records.freshness import waiting
from tests.runtime.page_python import ask

LISTED = run_here.programs()
# Each has a record, which is fresh; some are run again.
RUNTIME = turns.files("runtime/*.*", "runtime/standins/**/*.py")
AGAIN = turns.few(120, LISTED, lambda name: [f"snippets/{name}.py"], *RUNTIME)
EACH = 12  # programs that run one after another in one Python, as in the page
FEW = LISTED[::12]


@functools.cache
def code():
    return Code()


@functools.cache
def ran(names):
    calls = [("run", {"source": inline(name, code()), "name": name, "record": False}) for name in names]
    return dict(zip(names, ask(*calls), strict=True))


@functools.cache
def expected():
    return measure.needing_no_gpu()


@pytest.mark.parametrize("name", AGAIN)
def test_a_listed_program_prints_the_same(name):
    first = AGAIN.index(name) // EACH * EACH
    answer = ran(tuple(AGAIN[first : first + EACH]))[name]
    assert measure.difference(answer, expected()[name]) == ""


@pytest.mark.parametrize("name", FEW)
def test_some_print_the_same(name):
    assert measure.difference(ran(tuple(FEW))[name], expected()[name]) == ""


# The list


def test_most_programs_that_need_no_gpu_are_listed():
    assert set(run_here.measured()) == set(expected())
    # FlexAttention is a part of PyTorch's compiler, programs on versions ask theirs, and others read what Triton's made: no page
    # has a compiler. Those of `outside` ask PyTorch's own tests.
    reads = {name for name, reason in measure.exceptions().items() if "there is no compiler in the page" in reason}
    elsewhere = ("flex_attention/", "versions/", "outside/")
    might = [name for name in expected() if name not in reads and not name.startswith(elsewhere)]
    assert len(LISTED) >= 0.91 * len(might)


def test_each_exception_has_its_reason():
    reasons = measure.exceptions()
    assert set(reasons) == set(expected()) - set(LISTED)
    assert all(len(reason.split()) >= 3 for reason in reasons.values())


def test_no_program_has_changed_since_it_was_measured():
    stale, _ = measure.stale(expected(), code())
    if waiting("cpu/runtime/programs"):  # the list of what is to be made says so, and goes red when it is made
        assert stale
        return
    assert not stale, f"renew with python runtime/measure.py --stale: {', '.join(stale)}"
