"""Tests of the library. They need torch, triton and pytest, and nothing else."""

import importlib.util
import warnings
from collections.abc import Iterator

import numpy
import pytest

from tests import interpreter

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def like_a_gpu(monkeypatch: pytest.MonkeyPatch, device: str) -> Iterator[None]:
    """Under the interpreter too, what a GPU leaves undefined is NaN, numbers round as there, and a wild access fails."""
    if device == "cpu":
        interpreter.poison_masked_lanes(monkeypatch)
        interpreter.convert_bf16_exactly(monkeypatch)
        interpreter.fuse_multiply_add(monkeypatch)
        interpreter.refuse_wild_accesses(monkeypatch)
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the interpreter's, of numpy, at every NaN
        yield


@pytest.fixture(autouse=True)
def memory_is_given_back() -> Iterator[None]:
    """Where tests share a GPU, those that need much of its memory take turns."""
    yield
    from tests.needs import give_memory_back

    give_memory_back()
