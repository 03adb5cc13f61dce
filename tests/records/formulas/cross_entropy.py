"""The recorded run of *Cross-entropy*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step

TARGETS = (2, 5)


def both(row: int) -> Iterator[Step]:
    columns = np.arange(8)
    mask, at = columns < 6, 6 * row + columns
    yield "row", row
    yield "columns", columns
    yield "mask", mask
    yield "at", at
    yield "load x", at, mask
    yield ("max",)
    yield ("exponential",)
    yield ("sum",)
    yield "load target", np.array(row), np.array(True)
    yield "is_target", columns == TARGETS[row]
    yield ("sum",)
    yield "store loss", np.array(row), np.array(True)
    yield ("dx",)
    yield "store dx", at, mask


FORMULAS = {"both": Formula(both, (2,), {"x": 12, "target": 2, "loss": 2, "dx": 12})}
