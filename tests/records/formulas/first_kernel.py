"""The recorded run of *Your first kernel*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def add(program: int) -> Iterator[Step]:
    offsets = 256 * program + np.arange(256)
    mask = offsets < 1000
    yield "pid", program
    yield "offsets", offsets
    yield "mask", mask
    yield "load x", offsets, mask
    yield "load y", offsets, mask
    yield ("out",)
    yield "store out", offsets, mask


FORMULAS = {"add": Formula(add, (4,), {"x": 1000, "y": 1000, "out": 1000})}
