"""The recorded run of *A tile of queries*."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.attention_tiles.causal import causal_attention_kernel


def causal() -> dict[str, Any]:
    """Ten tokens in tiles of four queries and two keys: the last tile of queries is half empty."""
    q, k, v = quarters(10, 2), quarters(10, 2), quarters(10, 2)
    out = torch.full_like(q, float("nan"))
    return {
        "kernel": causal_attention_kernel,
        "launch": lambda: causal_attention_kernel[(3, 1)](q, k, v, out, 10, 1.0, HEAD=2, BLOCK_M=4, BLOCK_N=2),
        "tensors": {"q": q, "k": k, "v": v, "out": out},
    }


RUNS = {"causal": causal}
