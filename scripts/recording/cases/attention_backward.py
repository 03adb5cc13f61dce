"""The recorded runs of *Attention, backward*: both kernels, over all pairs and over those that a causal mask leaves open."""

import math
from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.attention_backward.causal import causal_keys_kernel, causal_queries_kernel
from snippets.attention_backward.two_kernels import keys_gradient_kernel, queries_gradient_kernel

LENGTH, D, BLOCK, SCALE = 14, 2, 4, 0.25
GRID = (4,)


def made(kernel: Any, limit: str, *gradients: str) -> dict[str, Any]:
    """A launch of four programs, the last of which is half empty."""
    q, k, v, dout = quarters(4, LENGTH, D)
    scores = q @ k.T * SCALE
    if limit == "limit":  # causal, and in powers of two
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    lse, out = scores.logsumexp(1), torch.softmax(scores, 1) @ v
    tensors = {"q": q, "k": k, "v": v, "dout": dout, limit: lse * (1 / math.log(2) if limit == "limit" else 1)}
    tensors |= {"delta": (out * dout).sum(1)}
    tensors |= {name: torch.full((LENGTH, D), float("nan")) for name in gradients}
    return {
        "kernel": kernel,
        "launch": lambda: kernel[GRID](*tensors.values(), LENGTH, SCALE, D=D, BLOCK=BLOCK),
        "tensors": tensors,
    }


def keys() -> dict[str, Any]:
    return made(keys_gradient_kernel, "lse", "dk", "dv")


def queries() -> dict[str, Any]:
    return made(queries_gradient_kernel, "lse", "dq")


def causal_keys() -> dict[str, Any]:
    return made(causal_keys_kernel, "limit", "dk", "dv")


def causal_queries() -> dict[str, Any]:
    return made(causal_queries_kernel, "limit", "dq")


RUNS = {"keys": keys, "queries": queries, "causal_keys": causal_keys, "causal_queries": causal_queries}
