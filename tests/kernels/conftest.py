"""Tests of the library. They need torch, triton and pytest, and nothing else."""

import importlib.util
import pkgutil
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from tests import interpreter

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    collect_ignore_glob = ["test_*.py"]


class Patch(pytest.MonkeyPatch):
    """Finds the module `kernels.softmax.long`, although `kernels.softmax` is a function to whoever asks the package."""

    def setattr(self, target: Any, *rest: Any, **options: Any) -> None:
        if isinstance(target, str) and len(rest) == 1:
            module, _, name = target.rpartition(".")
            target, rest = pkgutil.resolve_name(module), (name, *rest)
        super().setattr(target, *rest, **options)


@pytest.fixture
def monkeypatch() -> Iterator[pytest.MonkeyPatch]:
    patch = Patch()
    yield patch
    patch.undo()


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
