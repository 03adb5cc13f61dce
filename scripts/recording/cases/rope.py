"""The recorded run of *Rotary embedding*: three tokens, each with four pairs."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.rope.launch import turn_kernel


def turn() -> dict[str, Any]:
    angles = torch.outer(torch.arange(3.0), torch.tensor([1.0, 0.5, 0.25, 0.125]))
    x, cos, sin = quarters(3, 8), angles.cos(), angles.sin()
    out = torch.full_like(x, float("nan"))
    return {
        "kernel": turn_kernel,
        "launch": lambda: turn_kernel[(3,)](x, cos, sin, out, HALF=4, BACK=False),
        "tensors": {"x": x, "cos": cos, "sin": sin, "out": out},
    }


RUNS = {"turn": turn}
