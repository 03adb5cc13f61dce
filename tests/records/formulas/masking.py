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


FIVE = np.array([-3.0, -1.0, -2.0, -5.0, -4.0])


def other(pid: int) -> Iterator[Step]:
    yield "pid", pid
    lanes = 8 * pid + np.arange(8)
    yield "offsets", lanes
    yield "mask", lanes < 5
    yield "load x", lanes, lanes < 5
    yield "max", FIVE.max()
    yield "store out", np.array(pid), np.array(True)


def no_other(pid: int) -> Iterator[Step]:
    lanes = 8 * pid + np.arange(8)
    yield "start", 8 * pid
    yield "offsets", lanes
    yield "mask", lanes < 5
    yield "load x", lanes, lanes < 5
    yield "store out", lanes, lanes < 5


def unmasked(pid: int) -> Iterator[Step]:
    lanes = 8 * pid + np.arange(8)
    yield "offsets", lanes
    yield "load x", lanes, np.array(True)
    yield "store out", lanes, np.array(True)


FORMULAS = {
    "largest": Formula(largest, (3,), {"x": 10, "out": 3}),
    "tile": Formula(tile, (2, 3), {"x": 60, "out": 60}),
    "other": Formula(other, (1,), {"x": 5, "out": 5}),
    "no_other": Formula(no_other, (1,), {"x": 5, "out": 5}),
    "unmasked": Formula(unmasked, (1,), {"x": 5, "out": 5}),
}
