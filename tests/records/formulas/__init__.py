"""What each recorded run must show, written in NumPy from the kernel's formula: a file for each chapter.

`FORMULAS` maps the name of a run to a `Formula`. Nothing here may import the recorder or a kernel.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

Step = tuple


@dataclass(frozen=True, eq=False)
class Formula:
    """The steps of every program of a run.

    `steps` is called with a program's numbers and yields, in the order of the kernel's statements:

        ("offsets", array)              a variable of integers or truth values
        ("out",) or ("out", array)      a variable of floating-point numbers, checked where they are given
        ("loop start", 16)              a round of a loop begins
        ("load x", offsets, mask)       likewise "store x" and "atomic_add x"; the mask broadcasts
        ("sum",), ("max",), ("dot",)    a reduction or a product, with or without its values

    `elements` tells for each tensor how many elements it has, or, of a view, at which offsets they lie.
    """

    steps: Callable[..., Iterator[Step]]
    grid: tuple[int, ...]
    elements: dict[str, int | np.ndarray]


def uniform(seed: int, counter: np.ndarray) -> np.ndarray:
    """The first of four words of Philox 4x32 with ten rounds (Salmon et al. 2011), as a number from 0 to 1."""
    c0, key = counter.astype(np.uint64), [seed & 0xFFFFFFFF, seed >> 32]
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    c1 = c2 = c3 = np.zeros_like(c0)
    for _ in range(10):
        left, right = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c2 = (right >> half) ^ c1 ^ np.uint64(key[0]), (left >> half) ^ c3 ^ np.uint64(key[1])
        c1, c3 = right & low, left & low
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    word = c0.astype(np.int64) - (c0 >> np.uint64(31)).astype(np.int64) * 2**32
    return np.where(word < 0, -word - 1, word) / 2**31
