"""The recorded runs of *Patterns to start from*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def row_sum(row: int) -> Iterator[Step]:
    yield "row", row
    yield "total", np.zeros(4)
    for start in (0, 4, 8, 12):
        columns = start + np.arange(4)
        yield "loop start", start
        yield "columns", columns
        yield "mask", columns < 13
        yield "load x", 13 * row + columns, columns < 13
        yield ("total",)
    yield ("sum",)
    yield "store out", np.array(row), np.array(True)


def transpose(down: int, across: int) -> Iterator[Step]:
    row, column = 4 * down, 8 * across
    rows, columns = row + np.arange(4)[:, None], column + np.arange(8)[None, :]
    out_rows, out_columns = column + np.arange(8)[:, None], row + np.arange(4)[None, :]
    mask, out_mask = (rows < 6) & (columns < 10), (out_rows < 10) & (out_columns < 6)
    yield "row", row
    yield "column", column
    yield "rows", rows
    yield "columns", columns
    yield "mask", mask
    yield "load x", 10 * rows + columns, mask
    yield "out_rows", out_rows
    yield "out_columns", out_columns
    yield "out_mask", out_mask
    yield "out_offsets", 6 * out_rows + out_columns
    yield "store out", 6 * out_rows + out_columns, out_mask


FORMULAS = {
    "row_sum": Formula(row_sum, (3,), {"x": 39, "out": 3}),
    "transpose": Formula(transpose, (2, 2), {"x": 60, "out": 60}),
}
