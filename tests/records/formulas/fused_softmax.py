"""The recorded run of *Fused softmax*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def row(program: int) -> Iterator[Step]:
    columns = np.arange(16)
    mask = columns < 13
    yield "row", program
    yield "columns", columns
    yield "mask", mask
    yield "load x", 13 * program + columns, mask
    yield ("max",)
    yield ("numerator",)
    yield ("sum",)
    yield ("y",)
    yield "store y", 13 * program + columns, mask


FORMULAS = {"row": Formula(row, (4,), {"x": 52, "y": 52})}
