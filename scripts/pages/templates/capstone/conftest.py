"""Puts the folders of the parts on the path, and says what a test needs where it cannot run."""

import os
import sys
from pathlib import Path

import pytest
import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before a part imports triton
for folder in ("hardware-survey", "cuda-kernels", "triton-kernels"):
    sys.path.insert(0, str(Path(__file__).parent / folder))

from cuda_build import NEEDS, WITH_GCC, where

WITH_GCC += ["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"]  # an index outside of an array ends the run


@pytest.fixture(autouse=True)
def same_numbers():
    """Every test draws the same numbers in every run."""
    torch.manual_seed(0)


@pytest.fixture
def cpp():
    """The device that CUDA C++ is built for on this machine."""
    device, compiler = where()
    if not compiler:
        pytest.skip(NEEDS)
    return device


@pytest.fixture
def device():
    return "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def before_nan():
    """A function that copies a tensor to where NaN stands behind it in memory, so that what is computed from there shows."""

    def copied(x):
        behind = torch.full((20_000,), torch.nan, dtype=x.dtype, device=x.device)
        return torch.cat((x.flatten(), behind))[: x.numel()].view(x.shape)

    return copied


@pytest.fixture
def gpu():
    if not torch.cuda.is_available():
        pytest.skip("needs: a CUDA GPU, because it takes times")


@pytest.fixture
def faster():
    """A check that one function takes at most so many times as long as another, for which a timer needs some room."""
    from triton.testing import do_bench

    def check(mine, other, at_most=1.05):
        times = [do_bench(mine), do_bench(other)]
        assert times[0] <= at_most * times[1], f"{times[0]:.4f} ms, and the other one takes {times[1]:.4f} ms"

    return check
