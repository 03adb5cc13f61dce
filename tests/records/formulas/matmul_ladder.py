"""The recorded run of *Matmul, step by step*: a of 6 by 10 times b of 10 by 7, in tiles of 4 by 4 and steps of 4."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step

M, N, K = 6, 7, 10


def tiles(pid_n: int, pid_m: int) -> Iterator[Step]:
    rows, columns = 4 * pid_m + np.arange(4), 4 * pid_n + np.arange(4)
    yield "rows", rows
    yield "columns", columns
    yield "total", np.zeros(16)
    for start in (0, 4, 8):
        k = start + np.arange(4)
        a_mask = (rows[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (columns[None, :] < N)
        yield "loop start", start
        yield "inner", k
        yield "a_mask", a_mask
        yield "load a", rows[:, None] * K + k[None, :], a_mask
        yield "b_mask", b_mask
        yield "load b", k[:, None] * N + columns[None, :], b_mask
        yield ("dot",)
    c_mask = (rows[:, None] < M) & (columns[None, :] < N)
    yield "c_mask", c_mask
    yield "store c", rows[:, None] * N + columns[None, :], c_mask


FORMULAS = {"tiles": Formula(tiles, (2, 2), {"a": M * K, "b": K * N, "c": M * N})}
