"""The recorded run of *Dropout*. The words are drawn here by the plain PyTorch twin of the library's generator."""

from collections.abc import Iterator

import numpy as np
import torch

from kernels.philox import philox_reference
from tests.baked.formulas import Formula, Step


def draw(program: int) -> Iterator[Step]:
    offsets = 8 * program + np.arange(8)
    mask = offsets < 13
    yield "offsets", offsets
    yield "mask", mask
    yield "load x", offsets, mask
    yield "offsets", offsets  # handed to tl.rand
    # tl.rand takes the first of the four words of the counter that it is given.
    words = philox_reference(7, 4 * 16, torch.device("cpu")).view(16, 4)[offsets, 0].numpy()
    yield "kept", np.where(words < 0, -words - 1, words) * np.float32(4.6566127342e-10) >= 0.5
    yield "store y", offsets, mask


FORMULAS = {"draw": Formula(draw, (2,), {"x": 13, "y": 13})}
