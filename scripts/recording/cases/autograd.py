"""The recorded run of *Autograd*."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.autograd.pair import row_gradient_kernel


def backward() -> dict[str, Any]:
    y = torch.tensor([[0.5, 0.25, 0.125, 0.125, 0.0, 0.0], [0.25, 0.25, 0.25, 0.0, 0.125, 0.125]])
    dy = quarters(2, 6)
    dx = torch.full_like(y, float("nan"))
    return {
        "kernel": row_gradient_kernel,
        "launch": lambda: row_gradient_kernel[(2,)](y, dy, dx, 6, BLOCK=8),
        "tensors": {"y": y, "dy": dy, "dx": dx},
    }


RUNS = {"backward": backward}
