"""`check`: run a reader's function against a task's hidden cases, and answer as a teacher would."""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch

from kernels.labs.cases import Case, Task
from kernels.labs.errors import explain
from kernels.labs.regions import AROUND, Region, strayed
from kernels.labs.results import compare
from kernels.labs.tasks import TASKS
from kernels.labs.teacher import missing, told
from kernels.labs.timing import against_peer
from kernels.labs.watch import Watch

# The order in which findings are told: what makes everything after it meaningless comes first.
ORDER = ("wild load", "wild store", "input", "unset", "lanes", "race")


@dataclass
class Verdict:
    """The checker's answer. It counts as true if the function passed."""

    passed: bool
    message: str

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self.message

    def _ipython_display_(self) -> None:
        """Nothing more: `check` has printed the message."""


def interpreted() -> bool:
    """Whether kernels run under Triton's interpreter here."""
    from triton import knobs

    return bool(knobs.runtime.interpret) or os.environ.get("TRITON_INTERPRET") == "1"


def judge(fn: Callable, task: Task, case: Case, watched: bool) -> str:
    """What is wrong with one case, or nothing."""
    inputs = {name: value.as_subclass(torch.Tensor).clone() for name, value in case.inputs.items()}
    regions = [Region(name, "input", value) for name, value in case.inputs.items()] if watched else []
    watch = Watch([*regions, Region("out", "out", case.out)]) if watched else None
    failure = ""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if watch:
                with watch.attached():
                    returned = fn(*case.inputs.values(), case.out)
            else:
                returned = fn(*case.inputs.values(), case.out)
                torch.cuda.synchronize()
    except Exception as error:
        returned, failure = None, explain(error)
    if watch and watch.findings:
        return told(min(watch.findings, key=lambda finding: ORDER.index(finding.kind)), watch)
    if failure:
        return failure
    for name, before in inputs.items():
        if not torch.equal(case.inputs[name].as_subclass(torch.Tensor), before):
            return f"The function changed its input `{name}`. Inputs must stay as they are: write to `out`."
    if case.out.numel() == 0:
        return ""
    if watch and not watch.launches:
        hint = " It returned a tensor: write the result into `out`, the last argument." if torch.is_tensor(returned) else ""
        return f"The function launched no kernel.{hint}\n\nLaunch yours with `kernel[grid](...)`, and let it write to `out`."
    if watch and task.most_lanes and watch.most_lanes > task.most_lanes:
        most = f"One access of your kernel has {watch.most_lanes} lanes. This task allows {task.most_lanes}"
        return f"{most}: rows here may be longer than any block. Walk over the row in a loop."
    if not watch and (strayed(case.out, AROUND) or any(map(strayed, case.inputs.values()))):
        return (
            "The kernel wrote outside of its output.\n\nUsually: a store without a mask, or a wrong stride. Run the check on "
            "a CPU, with TRITON_INTERPRET=1: there it says which program and which lanes."
        )
    return (missing(watch, case.out) if watch else "") or compare(task, case, watch)


def check(fn: Callable, task: str, expected: Callable[..., torch.Tensor] | None = None) -> Verdict:
    """Run a function that launches a kernel against hidden inputs; print and return what is right or wrong.

    Args:
        fn: Takes the task's inputs and, last, the output to write to. The output is filled with NaN beforehand.
        task: The name of a task, one of `TASKS`. `TASKS[name].call` says how `fn` is called and what it computes.
        expected: A formula in PyTorch that takes the place of the task's own, for a kernel of your own design.

    Returns:
        A verdict: true if every case passed, with the message that was printed.

    Raises:
        ValueError: There is no task of that name.
    """
    if task not in TASKS:
        raise ValueError(f"task: expected one of {', '.join(TASKS)}, got {task!r}")
    what = replace(TASKS[task], expected=expected, mistakes={}, peer=expected) if expected else TASKS[task]
    watched = interpreted()
    if not watched and not torch.cuda.is_available():
        off = "There is no GPU, and Triton's interpreter is off. Set TRITON_INTERPRET=1 before triton is imported."
        return answer(False, off)
    try:
        cases = list(what.cases("cpu" if watched else "cuda"))
    except RuntimeError as error:  # an earlier kernel has left the GPU in a state in which it refuses everything
        return answer(False, f"✗ {task}: nothing could be tried.\n\n{explain(error)}")
    for number, case in enumerate(cases, start=1):
        problem = judge(fn, what, case, watched)
        if problem:
            return answer(False, f"✗ {task}, case {number} of {len(cases)}: {case.label}\n\n{problem}")
    looked = "no lane out of bounds, no two programs at one address" if watched else "nothing written out of bounds"
    right = f"✓ {task}: all {len(cases)} cases are right, {looked}."
    if watched or what.peer is None or what.large is None:
        return answer(True, right)
    try:
        passed, text = against_peer(fn, what.peer, what.large())
    except torch.OutOfMemoryError:
        passed, text = True, "No times: this GPU lacks the memory for the large input."
    except Exception as error:
        passed, text = False, explain(error)
    return answer(passed, f"{right}\n  {text}" if passed else f"✗ {task}, one large input\n\n{text}")


def answer(passed: bool, message: str) -> Verdict:
    print(message)
    return Verdict(passed, message)
