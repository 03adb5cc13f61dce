"""The recorded run of *Your first kernel*."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.first_kernel.launch import vector_add_kernel


def add() -> dict[str, Any]:
    x, y = quarters(2, 1000).unbind()
    out = torch.full_like(x, float("nan"))
    return {
        "kernel": vector_add_kernel,
        "launch": lambda: vector_add_kernel[(4,)](x, y, out, 1000, BLOCK=256),
        "tensors": {"x": x, "y": y, "out": out},
    }


RUNS = {"add": add}
