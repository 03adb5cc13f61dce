"""The recorded run of *LayerNorm and RMSNorm*."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.norms.partial_sums import partial_sums_kernel


def partial_sums() -> dict[str, Any]:
    dy = quarters(5, 6)
    partials = torch.full((2, 6), float("nan"))
    return {
        "kernel": partial_sums_kernel,
        "launch": lambda: partial_sums_kernel[(2,)](dy, partials, 5, 6, BLOCK=8),
        "tensors": {"dy": dy, "partials": partials},
    }


RUNS = {"partial_sums": partial_sums}
