"""The recorded runs of the dance between memory and chip; blocks of numbers alone, without offsets and masks."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from tests.records.formulas import Formula, Step


def add(block: int, program: int) -> Iterator[Step]:
    offsets = block * program + np.arange(block)
    mask = offsets < 4000
    yield "pid", program
    yield "load x", offsets, mask
    yield "load y", offsets, mask
    yield ("out",)
    yield "store out", offsets, mask


def matmul(block: int, i: int, j: int = 0) -> Iterator[Step]:
    side = np.arange(block)
    rows, columns = 128 * (block * i + side)[:, None], (block * j + side)[None, :]
    yield ("c",)
    for start in range(0, 128, block):
        yield "loop start", start
        yield "load a", rows + start + side[None, :], True
        yield "load b", 128 * (start + side)[:, None] + columns, True
        yield ("dot",)
    yield "store c", rows + columns, True


def product(i: int, j: int) -> Iterator[Step]:
    m, n = 16 * i + np.arange(16)[:, None], 16 * j + np.arange(16)[None, :]
    yield "m", m
    yield "n", n
    yield ("c",)
    for start in (0, 16, 32):
        k = start + np.arange(16)
        across, down = k[None, :], k[:, None]
        a_mask, b_mask = (m < 24) & (across < 40), (down < 40) & (n < 20)
        yield "loop start", start
        yield "k", k
        yield "a_mask", a_mask
        yield "b_mask", b_mask
        yield "load a", 40 * m + across, a_mask
        yield "load b", 20 * down + n, b_mask
        yield ("dot",)
    yield "store c", 20 * m + n, (m < 24) & (n < 20)


VECTORS = {"x": 4000, "y": 4000, "out": 4000}
MATRICES = {"a": 128**2, "b": 128**2, "c": 128**2}


def matrices(n: int) -> Formula:
    return Formula(partial(matmul, n), (128 // n, 128 // n) if n < 128 else (1,), MATRICES)


FORMULAS = {
    "product": Formula(product, (2, 2), {"a": 24 * 40, "b": 40 * 20, "c": 24 * 20}),
    **{f"add_{n}": Formula(partial(add, n), (-(-4000 // n),), VECTORS) for n in (128, 256, 512, 1024, 2048, 4096)},
    **{f"matmul_{n}": matrices(n) for n in (16, 32, 64, 128)},
}
