"""The recorded run of *Dropout*: a line of numbers, a number drawn for each, and what is kept."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.dropout.one_each import one_each_kernel


def draw() -> dict[str, Any]:
    x = quarters(13)
    y = torch.full_like(x, float("nan"))
    return {
        "kernel": one_each_kernel,
        "launch": lambda: one_each_kernel[(2,)](x, y, 13, 0.5, 7, BLOCK=8),
        "tensors": {"x": x, "y": y},
    }


RUNS = {"draw": draw}
