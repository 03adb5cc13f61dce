"""The recorded run of *Attention*: two queries of two numbers meet ten keys, four at a time, with a scale of one."""

from collections.abc import Iterator

import numpy as np

from tests.records.formulas import Formula, Step

Q = np.array([[1, 0.5], [-1, 0.5]])
K = np.array([(-1, 1), (0.5, 0), (1, 1), (-2, 1), (2, 1), (0, 1), (1.5, 1), (-3, 1), (3, 1), (2, 0)])
V = np.array([(1, 0.5), (0.5, 2), (2, 1), (1, 1), (0.25, 1.5), (1, 0), (1.5, 1), (2, 2), (1, 0.5), (0.5, 1)])


def seen(query: int, end: int) -> tuple[float, float, np.ndarray]:
    """The largest score of the first keys, their sum of exponentials, and the sum of their values, each seen whole."""
    scores = (K[:end] @ Q[query]).astype(np.float64)
    largest = scores.max(initial=-np.inf)
    weights = np.exp(scores - largest)
    return largest, weights.sum(), weights @ V[:end]


def one_query(query: int) -> Iterator[Step]:
    columns = np.arange(2)
    yield "query", query
    yield "columns", columns
    yield "load q", 2 * query + columns, True
    yield "m", -np.inf
    yield "s", 0.0
    yield "total", np.zeros(2)
    for start in (0, 4, 8):
        keys = start + np.arange(4)
        mask, end = keys < 10, min(start + 4, 10)
        places = 2 * keys[:, None] + columns[None, :]
        scores = np.where(mask, np.append(K, np.zeros((2, 2)), 0)[keys] @ Q[query], -np.inf)
        m, s, total = seen(query, end)
        before = seen(query, start)[0]
        weights = np.exp(scores - m)
        yield "loop start", start
        yield "keys", keys
        yield "mask", mask
        yield "places", places
        yield "load k", places, mask[:, None]
        yield ("sum",)
        yield ("scores",)
        yield "scores", scores
        yield "max", np.array(scores.max())
        yield "new_m", np.array(m)
        yield "weights", weights
        yield "rescale", np.array(np.exp(before - m))
        yield "sum", np.array(weights.sum())
        yield "s", np.array(s)
        yield "load v", places, mask[:, None]
        yield "sum", weights[mask] @ V[start:end]
        yield "total", total
        yield "m", np.array(m)
    yield "store out", 2 * query + columns, True


FORMULAS = {"one_query": Formula(one_query, (2,), {"q": 4, "k": 20, "v": 20, "out": 4})}
