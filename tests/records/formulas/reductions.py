"""The recorded runs of *Reductions*."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step


def last(pid: int) -> Iterator[Step]:
    yield "pid", pid
    yield "lanes", np.zeros(4)
    offsets = 4 * pid + np.arange(4)
    yield "loop start", 4 * pid
    yield "offsets", offsets
    yield "load x", offsets, offsets < 14
    yield ("lanes",)
    yield ("sum",)
    yield "store partial", np.array(pid), np.array(True)
    yield "atomic_add arrived", np.array(0), np.array(True)
    if pid == 3:
        yield "load partial", np.arange(4), np.full(4, True)
        yield ("sum",)
        yield "store out", np.array(0), np.array(True)
        yield "store arrived", np.array(0), np.array(True)


FORMULAS = {"last": Formula(last, (4,), {"x": 14, "out": 1, "partial": 4, "arrived": 1})}
