"""The recorded run of *Autograd*."""

from typing import Any

import torch

from kernels.softmax.softmax import softmax_backward_kernel
from scripts.recording.cases import quarters


def backward() -> dict[str, Any]:
    y = torch.tensor([[0.5, 0.25, 0.125, 0.125, 0.0, 0.0], [0.25, 0.25, 0.25, 0.0, 0.125, 0.125]])
    dy = quarters(2, 6)
    dx = torch.full_like(y, float("nan"))
    return {
        "kernel": softmax_backward_kernel,
        "launch": lambda: softmax_backward_kernel[(2,)](y, dy, dx, 6, 6, 6, 6, BLOCK=8),
        "tensors": {"y": y, "dy": dy, "dx": dx},
    }


RUNS = {"backward": backward}
