"""The recorded run of *Autograd*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def backward(program: int) -> Iterator[Step]:
    columns = np.arange(8)
    mask, offsets = columns < 6, 6 * program + columns
    yield "row", program
    yield "columns", columns
    yield "mask", mask
    yield "offsets", offsets
    yield "load y", offsets, mask
    yield "load dy", offsets, mask
    yield ("sum",)
    yield "store dx", offsets, mask


FORMULAS = {"backward": Formula(backward, (2,), {"y": 12, "dy": 12, "dx": 12})}
