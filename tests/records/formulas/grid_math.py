"""The recorded run of *Grid math*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def tile(down: int, across: int) -> Iterator[Step]:
    rows, columns = 4 * down + np.arange(4)[:, None], 8 * across + np.arange(8)[None, :]
    offsets, mask = 14 * rows + columns, (rows < 10) & (columns < 14)
    yield "pid_m", down
    yield "pid_n", across
    yield "rows", rows
    yield "columns", columns
    yield "mask", mask
    yield "x_offsets", offsets
    yield "out_offsets", offsets
    yield "load x", offsets, mask
    yield "store out", offsets, mask


FORMULAS = {"tile": Formula(tile, (3, 2), {"x": 140, "out": 140})}
