"""The recorded run of *Softmax, step by step*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def online(row: int) -> Iterator[Step]:
    yield "row_start", 10 * row
    yield "m", np.float32(-np.inf)
    yield "s", 0.0
    for start in (0, 4, 8):
        columns = start + np.arange(4)
        yield "loop start", start
        yield "columns", columns
        yield "mask", columns < 10
        yield "load x", 10 * row + columns, columns < 10
        yield ("max",)
        yield ("new_m",)
        yield ("sum",)
        yield ("s",)
        yield ("m",)
    for start in (0, 4, 8):
        columns = start + np.arange(4)
        yield "loop start", start
        yield "columns", columns
        yield "mask", columns < 10
        yield "load x", 10 * row + columns, columns < 10
        yield ("y",)
        yield "store y", 10 * row + columns, columns < 10


FORMULAS = {"online": Formula(online, (2,), {"x": 20, "y": 20})}
