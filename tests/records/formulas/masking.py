"""The recorded runs of *Masking*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def tile(down: int, right: int) -> Iterator[Step]:
    rows = 4 * down + np.arange(4)
    cols = 4 * right + np.arange(4)
    offsets = 10 * rows[:, np.newaxis] + cols
    mask = np.outer(rows < 6, cols < 10)
    yield "rows", rows
    yield "cols", cols
    yield "offsets", offsets
    yield "mask", mask
    yield "load x", offsets, mask
    yield "store out", offsets, mask


def largest(pid: int) -> Iterator[Step]:
    yield "pid", pid
    offsets = 4 * pid + np.arange(4)
    yield "offsets", offsets
    yield "mask", offsets < 10
    yield "load x", offsets, offsets < 10
    yield ("max",)
    yield "store out", np.array(pid), np.array(True)


FORMULAS = {"largest": Formula(largest, (3,), {"x": 10, "out": 3}), "tile": Formula(tile, (2, 3), {"x": 60, "out": 60})}
