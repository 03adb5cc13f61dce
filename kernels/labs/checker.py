"""`check`: run a reader's function against a task's hidden cases, and answer as a teacher would."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from kernels.labs.diagnose.errors import explain
from kernels.labs.diagnose.idle import remark
from kernels.labs.diagnose.judge import judge, watch_of, with_infinities
from kernels.labs.diagnose.timing import against_peer
from kernels.labs.tasks.tasks import TASKS

# How many cases are run again with infinities in the lanes that no `other` fills. If such lanes matter, the first one shows it.
TWICE = 3


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
    tried, unfilled = [], 0
    for number, case in enumerate(cases, start=1):
        watch = watch_of(case) if watched else None
        problem = judge(fn, what, case, watch)
        if watch and watch.fillers and not problem and unfilled < TWICE:
            problem, unfilled = with_infinities(fn, what, case), unfilled + 1
        if problem:
            return answer(False, f"✗ {task}, case {number} of {len(cases)}: {case.label}\n\n{problem}")
        if watch:
            tried.append((case, watch))
    looked = "no lane out of bounds, no races" if watched else "nothing written out of bounds"
    cases_right = "its one case is right" if len(cases) == 1 else f"all {len(cases)} cases are right"
    right = f"✓ {task}: {cases_right}, {looked}."
    if watched or what.peer is None or what.large is None:
        return answer(True, f"{right}\n\n{remark(tried)}".rstrip())
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
