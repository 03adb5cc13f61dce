"""The recorded runs of *Attention*."""

from typing import Any

import torch

from snippets.attention.one_query import one_query_kernel

KEYS = [(-1, 1), (0.5, 0), (1, 1), (-2, 1), (2, 1), (0, 1), (1.5, 1), (-3, 1), (3, 1), (2, 0)]
VALUES = [(1, 0.5), (0.5, 2), (2, 1), (1, 1), (0.25, 1.5), (1, 0), (1.5, 1), (2, 2), (1, 0.5), (0.5, 1)]


def one_query() -> dict[str, Any]:
    """Two queries of two numbers meet ten keys. For one every block brings a larger score, for the other the last does not."""
    q, k, v = torch.tensor([[1.0, 0.5], [-1.0, 0.5]]), torch.tensor(KEYS), torch.tensor(VALUES)
    out = torch.full_like(q, float("nan"))
    return {
        "kernel": one_query_kernel,
        "launch": lambda: one_query_kernel[(2,)](q, k, v, out, 10, 1.0, HEAD=2, BLOCK=4),
        "tensors": {"q": q, "k": k, "v": v, "out": out},
    }


RUNS = {"one_query": one_query}
