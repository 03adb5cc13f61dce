"""The runs that the pages' pictures replay, a file for each chapter: small inputs, fixed seeds, every kernel as it is.

`RUNS` of each file maps a name to a function that returns the arguments of `scripts.recording.recorder.record`.
"""

import torch


def quarters(*shape: int) -> torch.Tensor:
    """Random multiples of 1/4: short to print, and exact under addition."""
    return torch.randint(-16, 17, shape, generator=torch.Generator().manual_seed(0)) / 4
