"""The recorded runs of *Grid math*."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from tests.records.formulas import Formula, Step


def tile(down: int, across: int, wide: int = 8, stride: int = 14) -> Iterator[Step]:
    rows, columns = 4 * down + np.arange(4)[:, None], wide * across + np.arange(wide)[None, :]
    offsets, mask = stride * rows + columns, (rows < 10) & (columns < stride)
    yield "pid_m", down
    yield "pid_n", across
    yield "rows", rows
    yield "columns", columns
    yield "mask", mask
    yield "x_offsets", offsets
    yield "out_offsets", offsets
    yield "load x", offsets, mask
    yield "store out", offsets, mask


FORMULAS = {
    "tile": Formula(tile, (3, 2), {"x": 140, "out": 140}),
    "broadcast": Formula(partial(tile, wide=4, stride=8), (3, 2), {"x": 80, "out": 80}),
}
