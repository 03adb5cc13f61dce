"""The recorded run of *Fused softmax*."""

from typing import Any

import torch

from kernels.softmax.softmax import softmax_kernel
from scripts.recording.cases import quarters


def softmax_row() -> dict[str, Any]:
    x = quarters(4, 13)
    y = torch.full_like(x, float("nan"))
    return {
        "kernel": softmax_kernel,
        "launch": lambda: softmax_kernel[(4,)](x, y, x.stride(0), y.stride(0), 13, BLOCK=16),
        "tensors": {"x": x, "y": y},
    }


RUNS = {"row": softmax_row}
