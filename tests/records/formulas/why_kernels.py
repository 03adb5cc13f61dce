"""The recorded run of *Why write a kernel*."""

import math
from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step, uniform

P, SEED, COLUMNS = 0.5, 30, 12


def fused(row: int, block: int) -> Iterator[Step]:
    columns = 8 * block + np.arange(8)
    mask = columns < COLUMNS
    offsets = COLUMNS * row + columns
    yield "row", row
    yield "columns", columns
    yield "mask", mask
    yield "offsets", offsets
    yield "load x", offsets, mask
    yield "load bias", columns, mask
    yield ("x",)
    yield ("x",)
    yield "keep", uniform(SEED, offsets) >= P
    yield ("x",)
    yield "store y", offsets, mask


def gelu_dropout(x: np.ndarray, bias: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """What the kernel should make of one block."""
    biased = x + bias
    gelu = 0.5 * biased * (1 + np.vectorize(math.erf)(biased / math.sqrt(2)))
    return np.where(uniform(SEED, offsets) >= P, gelu / (1 - P), 0.0)


FORMULAS = {"fused": Formula(fused, (2, 2), {"x": 24, "bias": 12, "y": 24})}
