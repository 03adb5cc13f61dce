"""Errors that a reader's code raised, in a teacher's words."""

import functools
import inspect
import re

import triton.language.standard

from kernels.labs.diagnose.error_explanations import MEANINGS
from kernels.labs.diagnose.pytorch_mistakes import HABITS
from kernels.labs.watch.source import failing_line, statement_at


def chain(error: BaseException) -> list[BaseException]:
    """The error, the one that it was raised from, and so on to the root."""
    return [error, *chain(error.__cause__)] if error.__cause__ is not None else [error]


@functools.cache
def library() -> str:
    """The text of Triton's own kernels, such as `tl.max`."""
    return inspect.getsource(triton.language.standard)


def refused_line(errors: list[BaseException]) -> str:
    """The innermost line of the reader's that Triton's compiler refused; nothing for any other error."""
    for error in reversed(errors):
        source, number = getattr(error, "src", None), getattr(getattr(error, "node", None), "lineno", 0)
        lines = source.splitlines() if isinstance(source, str) and source.strip() not in library() else []
        if 0 < number <= len(lines):
            return lines[number - 1].split("  #")[0].strip()
    return ""


def told_line(errors: list[BaseException]) -> str:
    """The reader's statement that is nearest to the root of the error."""
    return refused_line(errors) or next(filter(None, (statement_at(failing_line(error)) for error in reversed(errors))), "")


def usual_cause(message: str, statement: str) -> str:
    """What an error in this statement usually means, and where the site says more; nothing if it is not known."""
    for says, line, cause, entry in [*HABITS, *MEANINGS]:
        match = re.search(says, message)
        if match and re.search(line, statement):
            return match.expand(cause) + (f" More: errors/{entry}" if entry else "")
    return ""


def explain(error: BaseException) -> str:
    """What went wrong, where, and what that usually means."""
    errors = chain(error)
    root, statement = errors[-1], told_line(errors)
    # Of the compiler's errors only what it says itself: they hold the kernel's text, too.
    lines = [line.strip() for line in (getattr(root, "error_message", None) or str(root)).splitlines() if line.strip()]
    said = lines[-1] if lines else ""
    where = f"\n  {statement}" if statement else ""
    text = f"The code stopped at this line:{where}" + (f"\n  {type(root).__name__}: {said}" if said else "")
    cause = usual_cause(" ".join(lines) or repr(root), statement)
    return f"{text}\n\nUsually: {cause}" if cause else text
