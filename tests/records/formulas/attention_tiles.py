"""The recorded run of *A tile of queries*: ten tokens, causal, in tiles of four queries and two keys."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step

LENGTH, BLOCK_M, BLOCK_N = 10, 4, 2


def causal(tile: int) -> Iterator[Step]:
    row = (2 - tile) * BLOCK_M
    rows, columns = row + np.arange(BLOCK_M), np.arange(2)
    places, mask = 2 * rows[:, None] + columns[None, :], (rows < LENGTH)[:, None]
    yield "row", row
    yield "rows", rows
    yield "columns", columns
    yield "first", 0
    yield "places", places
    yield "load q", places, mask
    yield "m", np.full(BLOCK_M, -np.inf)
    yield "s", np.zeros(BLOCK_M)
    yield "total", np.zeros(2 * BLOCK_M)
    yield "end", min(row + BLOCK_M, LENGTH)
    for start in range(0, min(row + BLOCK_M, LENGTH), BLOCK_N):
        keys = start + np.arange(BLOCK_N)
        k_places, k_mask = 2 * keys[:, None] + columns[None, :], keys < LENGTH
        yield "loop start", start
        yield "keys", keys
        yield "mask", k_mask
        yield "k_places", k_places
        yield "load k", k_places, k_mask[:, None]
        yield "load v", k_places, k_mask[:, None]
        yield ("dot",)
        yield ("scores",)
        if start + BLOCK_N > row:
            yield ("scores",)
        yield ("max",)
        yield ("new_m",)
        yield ("weights",)
        yield ("rescale",)
        yield ("sum",)
        yield ("s",)
        yield ("dot",)
        yield ("m",)
    yield "store out", places, mask


FORMULAS = {"causal": Formula(causal, (3,), {"q": 20, "k": 20, "v": 20, "out": 20})}
