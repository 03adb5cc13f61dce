"""The recorded run of *Why write a kernel*."""

import math
from collections.abc import Iterator

import numpy as np

from tests.baked.formulas import Formula, Step

P, SEED, COLUMNS = 0.5, 30, 12
LOW = np.uint64(0xFFFFFFFF)


def uniform(seed: int, counter: np.ndarray) -> np.ndarray:
    """The first of four words of Philox 4x32 with ten rounds (Salmon et al. 2011), as a number from 0 to 1."""
    c0, key = counter.astype(np.uint64), [seed & 0xFFFFFFFF, seed >> 32]
    c1 = c2 = c3 = np.zeros_like(c0)
    for _ in range(10):
        left, right = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c2 = (right >> np.uint64(32)) ^ c1 ^ np.uint64(key[0]), (left >> np.uint64(32)) ^ c3 ^ np.uint64(key[1])
        c1, c3 = right & LOW, left & LOW
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    word = c0.astype(np.int64) - (c0 >> np.uint64(31)).astype(np.int64) * 2**32
    return np.where(word < 0, -word - 1, word) / 2**31


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
