"""The recorded run of *Matmul, the ladder*: a of 6 by 10 times b of 10 by 7, in tiles of 4 by 4 and steps of 4."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step

M, N, K = 6, 7, 10


def tiles(pid_n: int, pid_m: int) -> Iterator[Step]:
    rows, columns, inner = 4 * pid_m + np.arange(4), 4 * pid_n + np.arange(4), np.arange(4)
    yield "pid_n", pid_n
    yield "pid_m", pid_m
    yield "rows", rows
    yield "columns", columns
    yield "inner", inner
    a, b = rows[:, None] * K + inner[None, :], inner[:, None] * N + columns[None, :]
    yield "a_ptrs", a
    yield "b_ptrs", b
    yield "total", np.zeros(16)
    for start in (0, 4, 8):
        k = start + inner
        a_mask = (rows[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (columns[None, :] < N)
        yield "loop start", start
        yield "a_mask", a_mask
        yield "b_mask", b_mask
        yield "load a", rows[:, None] * K + k[None, :], a_mask
        yield "load b", k[:, None] * N + columns[None, :], b_mask
        yield ("dot",)
        yield "a_ptrs", a + start + 4
        yield "b_ptrs", b + (start + 4) * N
    c = rows[:, None] * N + columns[None, :]
    yield "c_ptrs", c
    yield "store c", c, (rows[:, None] < M) & (columns[None, :] < N)


FORMULAS = {"tiles": Formula(tiles, (2, 2), {"a": M * K, "b": K * N, "c": M * N})}
