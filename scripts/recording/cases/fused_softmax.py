"""The recorded run of *Fused softmax*."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.fused_softmax.one_row import row_softmax_kernel


def softmax_row() -> dict[str, Any]:
    x = quarters(4, 13)
    y = torch.full_like(x, float("nan"))
    return {
        "kernel": row_softmax_kernel,
        "launch": lambda: row_softmax_kernel[(4,)](x, y, 13, BLOCK=16),
        "tensors": {"x": x, "y": y},
    }


RUNS = {"row": softmax_row}
