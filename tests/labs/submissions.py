"""Kernels as readers write them: each with the task it was written for, and for a wrong one what the checker must say of it."""

from collections.abc import Callable

WRONG: dict[str, tuple[Callable, str, str]] = {}
RIGHT: dict[str, tuple[Callable, str]] = {}


def wrong(task: str, says: str) -> Callable[[Callable], Callable]:
    """A function that the checker must reject, and a pattern of the cause it must name."""

    def keep(fn: Callable) -> Callable:
        assert fn.__name__ not in WRONG
        WRONG[fn.__name__] = (fn, task, says)
        return fn

    return keep


def right(task: str) -> Callable[[Callable], Callable]:
    """A function that must pass."""

    def keep(fn: Callable) -> Callable:
        assert fn.__name__ not in RIGHT
        RIGHT[fn.__name__] = (fn, task)
        return fn

    return keep
