"""Which line of the reader's code is running, and what stands in it."""

import ast
import contextlib
import functools
import linecache
import os
import sys
from types import FrameType, TracebackType

import numpy as np
import torch
import triton

# The folders of those packages whose frames are not the reader's. A reader's own folder may well be called triton.
FILES = (triton.__file__, torch.__file__, np.__file__, __file__)
OTHERS = tuple(os.path.dirname(os.path.abspath(file)) + os.sep for file in FILES)
STANDARD = ("<frozen", ast.__file__, contextlib.__file__, functools.__file__)


def is_reader(filename: str) -> bool:
    """Whether a file is neither a library's nor the checker's."""
    return not filename.startswith(OTHERS + STANDARD)


def running_line() -> tuple[str, int]:
    """The file and line of the innermost frame that is the reader's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_reader(frame.f_code.co_filename):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


def failing_line(error: BaseException) -> tuple[str, int]:
    """The file and line of the reader's code where an error came up."""
    place, trace = ("", 0), error.__traceback__
    step: TracebackType | None = trace
    while step is not None:
        if is_reader(step.tb_frame.f_code.co_filename):
            place = (step.tb_frame.f_code.co_filename, step.tb_lineno)
        step = step.tb_next
    return place


@functools.lru_cache(maxsize=64)
def statements(text: str) -> list[ast.stmt]:
    try:
        return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    except SyntaxError:
        return []


def statement_at(place: tuple[str, int]) -> str:
    """The statement at a line, on one line of its own."""
    filename, line = place
    lines = linecache.getlines(filename)
    found = [node for node in statements("".join(lines)) if node.lineno <= line <= (node.end_lineno or 0)]
    if not found:
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""
    node = min(found, key=lambda node: (node.end_lineno or 0) - node.lineno)
    if hasattr(node, "body"):
        return lines[line - 1].strip()
    text = lines[node.lineno - 1 : node.end_lineno]
    text = [row.split("  #")[0].strip() for row in text]
    return " ".join(text).replace("( ", "(").replace(", )", ")").replace(" )", ")")


def masks_joined_by_words(text: str) -> str:
    """The first `a and b`, `a or b`, `not a` or `a < b < c` of a kernel that is no condition: blocks need &, | and ~."""
    tree = ast.parse(text)
    conditions = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert)
        for part in ast.walk(node.test)
    }
    for node in ast.walk(tree):
        words = isinstance(node, ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        chained = isinstance(node, ast.Compare) and len(node.ops) > 1
        if (words or chained) and id(node) not in conditions:
            return ast.unparse(node)
    return ""
