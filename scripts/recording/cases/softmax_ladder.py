"""The recorded run of *Softmax, step by step*."""

from typing import Any

import torch

from snippets.softmax_ladder.two_walks import running_softmax_kernel


def online() -> dict[str, Any]:
    rising = [-1, 0.5, 1, -2, 2.5, 0, 1.75, -3, 4, 3.25]  # every block brings a new maximum
    x = torch.tensor([rising, [*reversed(rising)]])
    y = torch.full_like(x, float("nan"))
    return {
        "kernel": running_softmax_kernel,
        "launch": lambda: running_softmax_kernel[(2,)](x, y, 10, BLOCK=4),
        "tensors": {"x": x, "y": y},
    }


RUNS = {"online": online}
