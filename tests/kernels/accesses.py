"""Which loads and stores of a kernel have a mask: what a block that is whole should do without."""

import contextlib
import functools
from collections import Counter
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def unmasked(loads: int, stores: int, device: str) -> Iterator[None]:
    """Raise unless the programs inside load and store so often without a mask; the interpreter alone can tell."""
    if device != "cpu":
        yield
        return
    from triton.runtime.interpreter import InterpreterBuilder

    found: Counter[str] = Counter()

    def counted(name: str):
        method = getattr(InterpreterBuilder, name)

        @functools.wraps(method)
        def counting(*arguments):
            found[name] += 1
            return method(*arguments)

        return counting

    with pytest.MonkeyPatch.context() as patch:
        for name in ("create_load", "create_store"):
            patch.setattr(InterpreterBuilder, name, counted(name))
        yield
    counts = found["create_load"], found["create_store"]
    assert counts == (loads, stores), f"{counts} loads and stores without a mask, not {(loads, stores)}"
