"""The recorded run of *Gated activations*: both gradients, from three tensors."""

from typing import Any

import torch

from scripts.recording.cases import quarters
from snippets.gated_activations.one_kernel import swiglu_backward_kernel


def backward() -> dict[str, Any]:
    gate, up, dy = quarters(3, 13).unbind()
    dgate, dup = torch.full((2, 13), float("nan")).unbind()
    return {
        "kernel": swiglu_backward_kernel,
        "launch": lambda: swiglu_backward_kernel[(2,)](gate, up, dy, dgate, dup, 13, BLOCK=8),
        "tensors": {"gate": gate, "up": up, "dy": dy, "dgate": dgate, "dup": dup},
    }


RUNS = {"backward": backward}
