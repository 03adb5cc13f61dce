"""What the drawn shapes that are lost have in common: kinds of cases, each beside the cases of its operation that are of none.

A kind is told from the shape and the dtype alone, so that a reader can tell it of a shape of theirs. The standard library alone.
"""

import re
import statistics
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from scripts.pages.drawn import TOLD, Case, Record, cases
from scripts.pages.peers import LEVEL, OPERATIONS, PEERS

HEAD = ["operation", "direction", "kind", "cases", "mean", "most often its best peer", "cases of no kind", "their mean"]
MULTIPROCESSORS = 132  # of an H200
KEYS = 64  # that a program of attention's backward pass owns
DEEP = 30_000  # terms of a sum


class Kind(NamedTuple):
    """Cases of some operations in one direction that a test picks out, and in words what the test asks."""

    ops: tuple[str, ...]
    direction: str
    words: str
    test: Callable[[Case], bool]


def sides(case: Case) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", case.shape)]


def odd_rows(*forms: str) -> Callable[[Case], bool]:
    return lambda case: case.shape.endswith(forms) and sides(case)[1] % 16 != 0


def odd_eights(case: Case) -> bool:
    _, n, k = sides(case)
    return n % 8 == k % 8 == 0 and (n % 16 != 0 or k % 16 != 0)


def deep(case: Case) -> bool:
    return sides(case)[2] >= DEEP


def wide(case: Case) -> bool:
    return sides(case)[4] == 256


def few_keys(case: Case) -> bool:
    batches, _, k_heads, tokens, _ = sides(case)
    return batches * k_heads * -(-tokens // KEYS) < MULTIPROCESSORS


def odd_head(case: Case) -> bool:
    half = sides(case)[4] // 2
    return half & (half - 1) != 0


ODD_EIGHTS = "k and n are multiples of 8, but not both of 16"
KINDS = [
    Kind(("max",), "fwd", "of rows whose length 16 does not divide", odd_rows("rows")),
    Kind(("max",), "fwd", "of columns", lambda case: case.shape.endswith("columns")),
    Kind(("mm",), "fwd", f"k is {DEEP:,} or more", deep),
    Kind(("mm",), "fwd", ODD_EIGHTS, odd_eights),
    Kind(("mm",), "bwd", ODD_EIGHTS, odd_eights),
    Kind(("attention",), "fwd", "heads of 256, fewer than 512 tokens", lambda case: wide(case) and sides(case)[3] < 512),
    Kind(("attention",), "bwd", "heads of 256", wide),
    Kind(("attention",), "bwd", f"fewer blocks of {KEYS} keys, in all heads, than {MULTIPROCESSORS}", few_keys),
    Kind(("rope",), "fwd", "half a head is not a power of two", odd_head),
    Kind(("softmax",), "bwd", "rows of at most 512 numbers", lambda case: sides(case)[1] <= 512),
    Kind(("swiglu", "geglu"), "bwd", "less than 16 MB are moved", lambda case: case.bytes < 16e6),
]


def of_kind(case: Case) -> bool:
    return any(case.op in kind.ops and case.direction == kind.direction and kind.test(case) for kind in KINDS)


def lost(records: dict[str, Record]) -> tuple[int, int]:
    """How many cases are lost, and how many of them are of a kind."""
    found = [case for record in records.values() for case in cases(record) if case.counted < 1 - LEVEL]
    return len(found), sum(of_kind(case) for case in found)


def table(records: dict[str, Record]) -> list[list[Any]]:
    """A line for each kind of which there are cases, the one that is lost most first, below the head."""
    every = [case for record in records.values() for case in cases(record)]
    found = []
    for kind in KINDS:
        some = [case for case in every if case.op in kind.ops and case.direction == kind.direction]
        picked = [case for case in some if kind.test(case)]
        if picked:
            rest = [case.counted for case in some if not of_kind(case)]
            found.append((statistics.geometric_mean(case.counted for case in picked), kind, picked, rest))
    lines: list[list[Any]] = [HEAD]
    for mean, kind, picked, rest in sorted(found, key=lambda line: line[0]):
        peer, times = Counter(case.peer for case in picked).most_common(1)[0]
        names = " and ".join(OPERATIONS.get(op, op) for op in kind.ops)
        line = [names, TOLD[kind.direction], kind.words, len(picked), f"{mean:.2f}"]
        line += [f"{PEERS.get(peer, peer)}, in {times}", len(rest), f"{statistics.geometric_mean(rest):.2f}" if rest else ""]
        lines.append(line)
    return lines
