"""The recorded runs of *Matmul, step by step*."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.matmul_ladder.product import walking_matmul_kernel


def tiles() -> dict[str, Any]:
    a, b = quarters(6, 10), quarters(10, 7)
    c = torch.full((6, 7), float("nan"))
    return {
        "kernel": walking_matmul_kernel,
        "launch": lambda: walking_matmul_kernel[(2, 2)](a, b, c, 6, 7, 10, BLOCK_M=4, BLOCK_N=4, BLOCK_K=4),
        "tensors": {"a": a, "b": b, "c": c},
    }


RUNS = {"tiles": tiles}
