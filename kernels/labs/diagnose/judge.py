"""Run a reader's function on one case, and say what is wrong with what it did."""

import warnings
from collections.abc import Callable

import numpy as np
import torch

from kernels.labs.diagnose.block_as_condition import refused
from kernels.labs.diagnose.errors import explain
from kernels.labs.diagnose.results import compare, wrong_elements
from kernels.labs.diagnose.teacher import missing, told, unfilled
from kernels.labs.tasks.cases import Case, Task
from kernels.labs.watch.interpreter_hooks import attached
from kernels.labs.watch.regions import AROUND, Region, emptied, strayed
from kernels.labs.watch.watch import Watch

# The order in which findings are told: what makes everything after it meaningless comes first.
ORDER = ("wild load", "wild store", "input", "unset", "lanes", "race")


def watch_of(case: Case, extremes: bool = False) -> Watch:
    regions = [Region(name, "input", value) for name, value in case.inputs.items()]
    return Watch([*regions, Region("out", "out", case.out)], extremes)


def attempt(fn: Callable, case: Case, watch: Watch | None) -> tuple[object, str]:
    """Call the function; what it returned, and what is to be said of an error."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if watch:
                with attached(watch):
                    return fn(*case.inputs.values(), case.out), ""
            returned = fn(*case.inputs.values(), case.out)
            torch.cuda.synchronize()
            return returned, ""
    except Exception as error:
        return None, explain(error)


def judge(fn: Callable, task: Task, case: Case, watch: Watch | None) -> str:
    """What is wrong with one run of one case, or nothing."""
    before = {name: value.as_subclass(torch.Tensor).clone() for name, value in case.inputs.items()}
    returned, failure = attempt(fn, case, watch)
    if watch and watch.findings:
        return told(min(watch.findings, key=lambda finding: ORDER.index(finding.kind)), watch)
    if failure:
        return failure
    for name, value in before.items():
        if not torch.equal(case.inputs[name].as_subclass(torch.Tensor), value):
            return f"The function changed its input `{name}`. Inputs must stay as they are: write to `out`."
    if case.out.numel() == 0:
        return ""
    if watch:
        problem = unwatched_or_too_wide(task, watch, returned) or missing(watch, case.out) or compare(task, case, watch)
        return problem or refused(watch)
    if strayed(case.out, AROUND) or any(map(strayed, case.inputs.values())):
        return (
            "The kernel wrote outside of its output.\n\nUsually: a store without a mask, or a wrong stride. Run the check on "
            "a CPU, with TRITON_INTERPRET=1: there it says which program and which lanes."
        )
    return compare(task, case, None)


def unwatched_or_too_wide(task: Task, watch: Watch, returned: object) -> str:
    """What to say of a function that launched nothing, or of a block larger than the task allows."""
    if not watch.launches:
        hint = " It returned a tensor: write the result into `out`, the last argument." if torch.is_tensor(returned) else ""
        return f"The function launched no kernel.{hint}\n\nLaunch yours with `kernel[grid](...)`, and let it write to `out`."
    if task.most_lanes and watch.most_lanes > task.most_lanes:
        most = f"One access of your kernel has {watch.most_lanes} lanes. This task allows {task.most_lanes}"
        return f"{most}: rows here may be longer than any block. Walk over the row in a loop."
    return ""


def with_infinities(fn: Callable, task: Task, case: Case) -> str:
    """A result that is right with NaN in the lanes that no `other` fills must be right with infinities in them, too."""
    emptied(case.out)
    watch = watch_of(case, extremes=True)
    failure = attempt(fn, case, watch)[1]
    if failure:
        return failure
    wrong = wrong_elements(task, case)
    return f"{wrong}\n\nUsually: {unfilled(watch, 'infinity')}" if wrong else ""
