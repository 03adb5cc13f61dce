"""The recorded run of *Find the line*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def small(row: int) -> Iterator[Step]:
    x = np.array([[1.0, 2.0, 3.0, 0.0], [4.0, 5.0, 6.0, 0.0]], np.float32)[row]
    yield "row", row
    columns = np.arange(4)
    mask = columns < 3
    yield "columns", columns
    yield "mask", mask
    yield "load x", 3 * row + columns, mask
    yield "sum", (x * x).sum()
    mean = (x * x).sum() / 4
    yield "mean", mean
    yield "load weight", columns, mask
    yield "y", x / np.sqrt(mean)
    yield "store y", 3 * row + columns, mask


FORMULAS = {"small": Formula(small, (2,), {"x": 6, "weight": 3, "y": 6})}
