"""The recorded run of *Find the line*: the wrong kernel on two rows of three numbers."""

from typing import Any

import torch

from snippets.debugging.suspect import scale_rows_kernel


def small() -> dict[str, Any]:
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    weight = torch.ones(3)
    y = torch.full_like(x, float("nan"))
    return {
        "kernel": scale_rows_kernel,
        "launch": lambda: scale_rows_kernel[(2,)](x, weight, y, 3, 0.0, BLOCK=4),
        "tensors": {"x": x, "weight": weight, "y": y},
    }


RUNS = {"small": small}
