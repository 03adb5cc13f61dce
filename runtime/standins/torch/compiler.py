"""torch.compiler: nothing is ever compiled."""

from collections.abc import Callable
from typing import Any

from torch import _absent


def is_compiling() -> bool:
    return False


def reset() -> None:
    pass


def disable(fn: Callable | None = None, recursive: bool = True) -> Any:
    return fn if fn else (lambda function: function)


def allow_in_graph(fn: Callable) -> Callable:
    return fn


__getattr__ = _absent.of(__name__, globals())
