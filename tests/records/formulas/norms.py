"""The recorded run of *LayerNorm and RMSNorm*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def partial_sums(program: int) -> Iterator[Step]:
    columns = np.arange(8)
    mask = columns < 6
    yield "program", program
    yield "columns", columns
    yield "mask", mask
    yield "total", np.zeros(8)
    for row in range(program, 5, 2):
        yield "loop row", row
        yield "load dy", 6 * row + columns, mask
        yield ("total",)
    yield "store partials", 6 * program + columns, mask


FORMULAS = {"partial_sums": Formula(partial_sums, (2,), {"dy": 30, "partials": 12})}
