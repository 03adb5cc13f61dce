"""The recorded run of *Dropout*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step, uniform


def draw(program: int) -> Iterator[Step]:
    offsets = 8 * program + np.arange(8)
    mask = offsets < 13
    yield "pid", program
    yield "offsets", offsets
    yield "mask", mask
    yield "load x", offsets, mask
    yield "kept", uniform(7, offsets) >= 0.5
    yield ("y",)
    yield "store y", offsets, mask


FORMULAS = {"draw": Formula(draw, (2,), {"x": 13, "y": 13})}
