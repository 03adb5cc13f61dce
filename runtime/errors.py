"""A program's error, as the page shows it: what it says, at which of the reader's lines, and what it usually means."""

import linecache
import traceback
from typing import Any

from triton._C.libtriton import OutsideOfTensors
from triton.runtime.errors import InterpreterError

from kernels.labs.diagnose.errors import usual_cause

UNMASKED = "some lanes own no element. Switch them off, at every load and store: `mask=offsets < n`."
MASKED = "the index or the mask is wrong: a lane that points to no element must be off, and one that is on must point to its own."
MORE = " More: errors/numbers/#missing-mask"
NO_SUCH_ARRAY = ("array is too big", "Maximum allowed dimension exceeded")  # what NumPy says beyond the addresses of a page
TOO_LARGE = "the page has less memory than your computer. Take smaller tensors."


def told(error: BaseException, path: str) -> dict[str, Any] | None:
    """The error as JSON holds it; nothing for a program that ended by itself, and well."""
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return None
    frames = [frame for each in chain(error) for frame in traceback.extract_tb(each.__traceback__) if frame.filename == path]
    root = chain(error)[-1]
    places = [[frame.lineno, (frame.line or "").strip()] for frame in frames]
    if isinstance(root, SyntaxError) and root.filename == path:
        places.append([root.lineno, (root.text or linecache.getline(path, root.lineno or 0)).strip()])
    line, text = places[-1] if places else (None, "")
    message = said(root)
    access = root.told | {"line": line} if isinstance(root, OutsideOfTensors) else None
    return {
        "type": type(root).__name__,
        "message": message,
        "line": line,
        "text": text,
        "frames": places,
        "hint": hint(root, message, text),
        "access": access,
    }


def chain(error: BaseException) -> list[BaseException]:
    """The error, and what the interpreter wrapped in it. An error that a reader raises from another one stays the reader's."""
    inner = error.__cause__ if isinstance(error, InterpreterError) else None
    return [error, *chain(inner)] if inner is not None else [error]


def said(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"The program ended with status {error.code}." if isinstance(error.code, int) else str(error.code)
    if isinstance(error, SyntaxError):
        return error.msg  # without the file and the line, which stand beside it
    if isinstance(error, RecursionError):
        return "A function calls itself without end."
    if isinstance(error, MemoryError):
        return str(error) or "There is no memory left."
    return str(error)


def hint(error: BaseException, message: str, statement: str) -> str | None:
    if isinstance(error, OutsideOfTensors):
        return (MASKED if "mask" in statement else UNMASKED) + MORE
    if isinstance(error, MemoryError) or any(words in message for words in NO_SUCH_ARRAY):
        return TOO_LARGE
    return usual_cause(message or repr(error), statement) or None
