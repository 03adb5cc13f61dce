"""The recorded run of *Gated activations*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def backward(program: int) -> Iterator[Step]:
    offsets = 8 * program + np.arange(8)
    mask = offsets < 13
    yield "pid", program
    yield "offsets", offsets
    yield "mask", mask
    for name in ("gate", "up", "dy"):
        yield f"load {name}", offsets, mask
    yield ("share",)
    yield ("slope",)
    yield "store dgate", offsets, mask
    yield "store dup", offsets, mask


FORMULAS = {"backward": Formula(backward, (2,), dict.fromkeys(("gate", "up", "dy", "dgate", "dup"), 13))}
