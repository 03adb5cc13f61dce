"""What each pass of the compiler changed, from what MLIR prints before every one of them. The standard library alone."""

import difflib
import re
from typing import NamedTuple

from scripts.reading.places import USED

HEAD = re.compile(r"^// -----// IR Dump Before (\S+) \(([\w-]+)\) \('builtin\.module' operation\) //----- //$", re.MULTILINE)
OTHER = re.compile(r"^// -----// .*$", re.MULTILINE)
VALUE = re.compile(r"%[\w#:]+")
LAST = "convert-triton-gpu-to-llvm"  # what follows is no longer about blocks
AROUND, MOST = 1, 100  # unchanged lines around a change, and lines that are kept of one pass


class Change(NamedTuple):
    """A pass, how many lines it took out and put in, and these lines with their surroundings, as `diff` writes them."""

    name: str
    out: int
    into: int
    lines: list[str]


def changes(dump: str) -> tuple[list[Change], int]:
    """The passes that changed the module, in order, and how many there were in all."""
    dump = dump[: second.start()] if (second := second_run(dump)) else dump
    heads = [*HEAD.finditer(dump)]
    found, count = [], 0
    for head, after in zip(heads, heads[1:], strict=False):
        if head[2] == LAST:
            break
        count += 1
        before, then = body(dump, head.end()), body(dump, after.end())
        if change := changed(before, then):
            found.append(Change(head[2], *change))
    return found, count


def second_run(dump: str) -> re.Match[str] | None:
    """Where the same compiler begins again: its first pass, the inliner, once more, after the last that counts."""
    end = dump.find(f"({LAST})")
    return next((head for head in HEAD.finditer(dump) if 0 <= end < head.start() and head[2] == "inline"), None)


def body(dump: str, start: int) -> list[str]:
    """The module that stands after a heading, without places."""
    end = OTHER.search(dump, start + 1)
    text = dump[start : end.start() if end else len(dump)]
    return [USED.sub("", line).rstrip() for line in text.splitlines() if line.strip() and not line.startswith("#loc")]


def changed(before: list[str], after: list[str]) -> tuple[int, int, list[str]] | None:
    """What differs besides the names of values: lines out, lines in, and the lines with their surroundings."""
    one, other = ([VALUE.sub("%", line) for line in lines] for lines in (before, after))
    groups = list(difflib.SequenceMatcher(None, one, other, autojunk=False).get_grouped_opcodes(AROUND))
    if not groups:
        return None
    out = into = 0
    lines = []
    for number, group in enumerate(groups):
        lines += ["..."] if number else []
        for kind, from_, to, then, end in group:
            if kind == "equal":
                lines += [f"  {line}" for line in after[then:end]]
                continue
            lines += [*(f"- {line}" for line in before[from_:to]), *(f"+ {line}" for line in after[then:end])]
            out, into = out + to - from_, into + end - then
    return out, into, lines if len(lines) <= MOST else [*lines[:MOST], f"... and {len(lines) - MOST} lines more"]
