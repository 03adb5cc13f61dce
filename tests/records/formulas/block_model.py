"""The recorded run of *The block model*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def tile(down: int, across: int) -> Iterator[Step]:
    rows, columns = 4 * down + np.arange(4), 8 * across + np.arange(8)
    offsets = np.add.outer(16 * rows, columns)
    yield "rows", rows
    yield "columns", columns
    yield "offsets", offsets
    yield "load x", offsets, True
    yield ("out",)
    yield "store out", offsets, True


FORMULAS = {"tile": Formula(tile, (2, 2), {"x": 128, "out": 128})}
