"""The recorded runs of *Attention, backward*: a head of 14 rows of 2 numbers in tiles of 4, with all pairs open or causal."""

from collections.abc import Callable, Iterator

import numpy as np

from tests.records.formulas import Formula, Step

LENGTH, D, BLOCK = 14, 2, 4


def places(first: int) -> tuple[np.ndarray, np.ndarray]:
    """Four rows of a head, and where their numbers lie."""
    rows = first + np.arange(BLOCK)
    return rows, rows[:, None] * D + np.arange(D)[None, :]


def keys_of(program: int, is_causal: bool) -> Iterator[Step]:
    first = BLOCK * program
    keys, mine = places(first)
    is_key = (keys < LENGTH)[:, None]
    yield "head", 0
    yield "columns", np.arange(D)
    if is_causal:
        yield "first", first
    yield "keys", keys
    yield "mine", mine
    yield "is_key", is_key
    yield "load k", mine, is_key
    yield "load v", mine, is_key
    yield "dk", np.zeros(BLOCK * D)
    yield "dv", np.zeros(BLOCK * D)
    for start in range(first if is_causal else 0, LENGTH, BLOCK):
        queries, rows = places(start)
        is_query = queries < LENGTH
        yield "loop start", start
        yield "queries", queries
        yield "is_query", is_query
        yield "rows", rows
        for name in ("q", "dout"):
            yield f"load {name}", rows, is_query[:, None]
        for name in ("limit" if is_causal else "lse", "delta"):
            yield f"load {name}", queries, is_query
        yield ("dot",)
        yield ("p",)
        if is_causal:
            yield ("p",)
        yield ("dot",)
        for name in ("ds", "dot", "dv", "dot", "dk"):
            yield (name,)
    yield "store dk", mine, is_key
    yield "store dv", mine, is_key


def queries_of(program: int, is_causal: bool) -> Iterator[Step]:
    first = BLOCK * program
    queries, mine = places(first)
    is_query = queries < LENGTH
    yield "head", 0
    yield "columns", np.arange(D)
    if is_causal:
        yield "first", first
    yield "queries", queries
    yield "mine", mine
    yield "is_query", is_query
    for name in ("q", "dout"):
        yield f"load {name}", mine, is_query[:, None]
    for name in ("limit" if is_causal else "lse", "delta"):
        yield f"load {name}", queries, is_query
    yield "dq", np.zeros(BLOCK * D)
    for start in range(0, min(first + BLOCK, LENGTH) if is_causal else LENGTH, BLOCK):
        keys, rows = places(start)
        is_key = keys < LENGTH
        yield "loop start", start
        yield "keys", keys
        yield "is_key", is_key
        yield "rows", rows
        for name in ("k", "v"):
            yield f"load {name}", rows, is_key[:, None]
        for name in ("dot", "p", "p", "dot", "ds", "dot", "dq"):
            yield (name,)
    yield "store dq", mine, is_query[:, None]


def keys(program: int) -> Iterator[Step]:
    return keys_of(program, False)


def queries(program: int) -> Iterator[Step]:
    return queries_of(program, False)


def causal_keys(program: int) -> Iterator[Step]:
    return keys_of(program, True)


def causal_queries(program: int) -> Iterator[Step]:
    return queries_of(program, True)


def formula(run: Callable[[int], Iterator[Step]], limit: str, *gradients: str) -> Formula:
    rows = dict.fromkeys(("q", "k", "v", "dout", *gradients), LENGTH * D)
    return Formula(run, (4,), rows | dict.fromkeys((limit, "delta"), LENGTH))


FORMULAS = {
    "keys": formula(keys, "lse", "dk", "dv"),
    "queries": formula(queries, "lse", "dq"),
    "causal_keys": formula(causal_keys, "limit", "dk", "dv"),
    "causal_queries": formula(causal_queries, "limit", "dq"),
}
