"""The checker rejects wrong kernels and says why, accepts right ones, and leaves the interpreter as it found it."""

import inspect
import re

import pytest
import torch

from kernels.labs import TASKS, check
from tests.labs import right, right_puzzles, wrong_elementwise, wrong_habits, wrong_matmul, wrong_softmax, wrong_tiles  # noqa: F401
from tests.labs.idle import one_more_than_needed, one_program_an_element, persistent_in_a_large_grid, programs_that_return_early
from tests.labs.submissions import RIGHT, WRONG

GPU = torch.cuda.is_available()
# What a GPU does not show, or not always: races that may end well, lanes of undefined contents, offsets that wrap around only in
# memory of 16 GiB. `and` between blocks is understood by the compiler, a grid may be a list, and a block's size is not looked at.
ONLY_INTERPRETED = {
    "and_for_ampersand",
    "grid_is_a_list",
    "maximum_of_undefined_lanes",
    "missing_other",
    "offsets_in_int32",
    "reversed_in_place",
    "sum_without_atomics",
    "tile_maximum_of_undefined_lanes",
    "whole_row_at_once",
    "wrapped_offsets",
}
# What a message must not hold; the compiler speaks of `_semantic` in words of its own, which a GPU passes on.
OURS = ("Traceback", "InterpreterError", "kernels/labs", *(() if GPU else ("_semantic",)))


@pytest.mark.parametrize("name", [name for name in WRONG if not (GPU and name in ONLY_INTERPRETED)])
def test_a_wrong_kernel_is_rejected_for_its_reason(name, capsys):
    fn, task, says = WRONG[name]
    verdict = check(fn, task)
    assert not verdict
    # A GPU shows that something is wrong; only the interpreter shows which lanes.
    assert re.search("Usually: |changed its input" if GPU else says, verdict.message), verdict.message
    assert capsys.readouterr().out == verdict.message + "\n"
    assert not any(word in verdict.message for word in OURS)


# Right for the sizes of the interpreter. A GPU is also given a large input, and a block has 2^20 elements at most.
ONLY_SMALL = {"one_block_of_all"}


@pytest.mark.parametrize("name", [name for name in RIGHT if not (GPU and name in ONLY_SMALL)])
def test_a_right_kernel_passes(name):
    fn, task = RIGHT[name]
    verdict = check(fn, task)
    assert verdict.passed, verdict.message
    assert "A remark: " not in verdict.message


IDLE = {
    one_program_an_element: r"of the 128 programs for 128 elements, 1 apart, 127 had nothing to do",
    programs_that_return_early: r"of the 128 programs for 128 elements, 1 apart, 127 had nothing to do",
    persistent_in_a_large_grid: "",
    one_more_than_needed: "",
}


@pytest.mark.parametrize("fn", IDLE, ids=lambda fn: fn.__name__)
def test_a_right_kernel_hears_of_programs_that_had_nothing_to_do(fn):
    verdict = check(fn, "gather_stride")
    assert verdict.passed, verdict.message
    says = "" if GPU else IDLE[fn]  # only the interpreter sees which programs are idle
    assert ("A remark: " in verdict.message) == bool(says)
    assert re.search(says, verdict.message)


def test_there_are_enough_of_both():
    assert len(WRONG) >= 30
    assert len(RIGHT) >= 12


def test_what_only_the_interpreter_sees_is_among_the_wrong():
    assert WRONG.keys() > ONLY_INTERPRETED and len(WRONG.keys() - ONLY_INTERPRETED) >= 30


def test_every_task_has_been_solved():
    assert {task for _, task in RIGHT.values()} == set(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_called_as_it_says(name):
    task = TASKS[name]
    case = next(task.cases("cpu"))
    arguments = re.match(r"fn\(([\w, ]+)\): ", task.call).group(1).split(", ")
    assert arguments == [*case.inputs, "out"]
    assert task.expected(*case.inputs.values()).shape == case.out.shape
    assert list(inspect.signature(task.expected).parameters) == list(case.inputs)


def test_the_interpreter_is_left_as_it_was():
    import triton.language as tl
    from triton.runtime import interpreter

    places = interpreter.GridExecutor, interpreter.InterpreterBuilder, interpreter, tl.tensor
    before = [dict(vars(place)) for place in places]
    fn, task, _ = WRONG["no_mask"]
    check(fn, task)
    check(lambda x, y, out: 1 / 0, task)
    assert [dict(vars(place)) for place in places] == before


def test_an_unknown_task_is_named():
    with pytest.raises(ValueError, match="task: expected one of .*vector_add.*got 'add'"):
        check(lambda out: None, "add")
