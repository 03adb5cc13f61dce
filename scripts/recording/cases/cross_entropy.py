"""The recorded run of *Cross-entropy*: a loss and its gradient from one read of each row."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.cross_entropy.gradient import both_kernel


def both() -> dict[str, Any]:
    x, target = quarters(2, 6), torch.tensor([2, 5])
    loss, dx = torch.full((2,), float("nan")), torch.full_like(x, float("nan"))
    return {
        "kernel": both_kernel,
        "launch": lambda: both_kernel[(2,)](x, target, loss, dx, 2, 6, BLOCK=8),
        "tensors": {"x": x, "target": target, "loss": loss, "dx": dx},
    }


RUNS = {"both": both}
