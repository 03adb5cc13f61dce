"""The recorded run of *Why write a kernel*: bias, GELU and dropout, with blocks that stick out of the rows."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.why_kernels.fused import bias_gelu_dropout_kernel


def fused() -> dict[str, Any]:
    x, bias = quarters(2, 12) / 2, quarters(12) / 4
    y = torch.full_like(x, float("nan"))
    return {
        "kernel": bias_gelu_dropout_kernel,
        "launch": lambda: bias_gelu_dropout_kernel[(2, 2)](x, bias, y, 12, 0.5, 30, BLOCK=8),
        "tensors": {"x": x, "bias": bias, "y": y},
    }


RUNS = {"fused": fused}
