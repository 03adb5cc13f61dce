"""Compare what came with what was expected, and guess why they differ."""

from itertools import chain

import torch

from kernels.labs.diagnose.block_as_condition import one_truth
from kernels.labs.diagnose.teacher import unfilled
from kernels.labs.diagnose.words import index_of, number
from kernels.labs.diagnose.wrong_strides import misread
from kernels.labs.tasks.cases import Case, Task
from kernels.labs.watch.watch import Watch

ROUNDING = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def plain(inputs: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    """The inputs in float64, integers as they are."""
    tensors = [value.as_subclass(torch.Tensor) for value in inputs.values()]
    return [value.double() if value.is_floating_point() else value for value in tensors]


def tolerance(task: Task, case: Case, expected: torch.Tensor) -> torch.Tensor:
    """How far an element may be off: by rounding, which grows with the terms of a product, as well."""
    relative = ROUNDING.get(case.out.dtype, task.tolerance)
    if set(case.inputs) == {"a", "b"}:
        a, b = (value.abs() for value in plain(case.inputs))
        return relative * (a @ b) + 1e-7
    return relative * expected.abs() + relative / 10


def different(came: torch.Tensor, expected: torch.Tensor, within: torch.Tensor) -> torch.Tensor:
    return ~((came.double() - expected).abs() <= within) & ~(came.isnan() & expected.isnan())


def matching(task: Task, case: Case, within: torch.Tensor) -> str:
    """The known mistake that would have given just this."""
    came, right = case.out.double(), task.expected(*plain(case.inputs)).double()
    known = ((words, wrong(*plain(case.inputs))) for words, wrong in task.mistakes.items())
    for words, guess in chain(known, misread(task, case)):
        guess = guess.double()
        telling = guess.shape == came.shape and different(guess, right, within).any()
        if telling and not different(came, guess, within * 10).any():
            return words + "."
    return ""


def displaced(came: torch.Tensor, expected: torch.Tensor, off: torch.Tensor) -> str:
    """What to say where each wrong element holds what belongs at another place."""
    wrong, values = came.double()[off], expected.flatten()
    if len(values) > 1000 or not wrong.isfinite().all() or values.unique().numel() < len(values):
        return ""
    apart = (wrong[:, None] - values).abs()
    if not (apart.amin(1) <= 1e-6 * wrong.abs()).all():
        return ""
    here = index_of(off.nonzero()[0].tolist())
    there = index_of([int(i) for i in torch.unravel_index(apart[0].argmin(), expected.shape)])
    return (
        f"right values in wrong places: out{here} holds what belongs at out{there}. Compare the offsets of the loads with those "
        "of the store: which row or element does each program own?"
    )


def general(case: Case, came: torch.Tensor, expected: torch.Tensor, off: torch.Tensor) -> str:
    """What the shape of the error says when no known mistake fits."""
    relative = ((came.double() - expected).norm() / expected.norm()).item()
    places = displaced(came, expected, off)
    if places:
        return places
    if torch.equal(came.double(), expected.half().double()):
        return (
            "the result was rounded to float16 before it was stored. Store float32 values: the store converts to the "
            "output's dtype."
        )
    rows = next((name for name, value in case.inputs.items() if value.ndim == 2), "out")
    if came.ndim == 2 and came.shape[1] > 1:
        factor = came.double() / expected
        if expected.all() and came.any() and (factor - factor[:, :1]).abs().max() < 1e-3:
            return (
                "within a row every element is off by one factor: the sum that divides the row is wrong, or was taken against "
                "another maximum than the numerators. Were lanes beyond the row's end counted, or was an earlier part of the sum "
                "not scaled to the new maximum?"
            )
        if len(came) == came.shape[1] and torch.allclose(came.double(), expected.T, rtol=1e-3):
            return "rows and columns are swapped."
        if len(came) > 1 and not off[0].any() and off[1:].any(1).all():
            return (
                f"the first row is right and no other is: the way from row to row is wrong. Row i begins at "
                f"`i * {rows}.stride(0)`; `{rows}.stride(1)` is the way from column to column."
            )
    if relative < 0.02:
        return (
            "the error is small: precision was lost on the way. Convert inputs with `.to(tl.float32)`, and keep sums in float32."
        )
    return "the formula, or an offset that points at another element than it should. Compare with one element worked out by hand."


def amiss(task: Task, case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What was expected, how far an element may be off, and which are farther off."""
    expected = task.expected(*plain(case.inputs)).double()
    within = tolerance(task, case, expected)
    return expected, within, different(case.out, expected, within)


def wrong_elements(task: Task, case: Case) -> str:
    """How many elements are wrong and which is the first; nothing if all are right."""
    expected, _, off = amiss(task, case)
    if not off.any():
        return ""
    first = tuple(off.nonzero()[0].tolist())
    where = f"out{index_of(first)}: expected {number(expected[first].item())}, came {number(case.out[first].item())}."
    if off.numel() == 1:
        return f"The only element is wrong. {where}"
    count = int(off.sum())
    are, first_is = ("is", "It is") if count == 1 else ("are", "The first is")
    return f"{count} of {off.numel()} elements {are} wrong. {first_is} {where}"


def compare(task: Task, case: Case, watch: Watch | None) -> str:
    """Nothing if the output is right; else what was expected, what came and where."""
    text = wrong_elements(task, case)
    if not text:
        return ""
    expected, within, off = amiss(task, case)
    came = case.out
    if came.isnan()[off].any() and not expected.isnan().any():
        if watch and watch.fillers and not case.why_nan:
            cause = unfilled(watch, "NaN")
        else:
            cause = case.why_nan or "inf - inf, 0 / 0, or an element that was never written."
        return f"{text}\n\nUsually: {cause}"
    mistake = matching(task, case, within)
    cause = (one_truth(watch) if watch else "") or mistake or case.why_wrong or general(case, came, expected, off)
    return f"{text}\n\nUsually: {cause}"
