"""TorchDispatchMode: a program that watches PyTorch's operations sees those of the stand-in by the same names."""

import functools
from collections.abc import Callable
from typing import Any

from torch._settings import settings

OF_LISTS = ("cat", "stack")  # operations whose first argument is a list of tensors


class Operation:
    """What a mode is handed: it can be called, and has a name."""

    def __init__(self, name: str, function: Callable, is_view: bool):
        self.function, self.is_view, self.overloadpacket, self.__name__ = function, is_view, self, name

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.function(*given, **named)

    def __str__(self) -> str:
        return f"aten.{self.__name__}.default"


def operation(name: str, is_view: bool = False) -> Callable[[Callable], Callable]:
    """Let modes see the calls of a function; what it calls in turn they do not."""

    def wrap(function: Callable) -> Callable:
        told = Operation(name, function, is_view)

        @functools.wraps(function)
        def seen(*given: Any, **named: Any) -> Any:
            if not settings.modes:
                return function(*given, **named)
            if name in OF_LISTS:
                given = (list(given[0]), *given[1:])
            *outer, mode = settings.modes
            settings.modes = []  # what the operation itself is made of stays unseen
            try:
                return mode.__torch_dispatch__(told, (), given, {name: v for name, v in named.items() if v is not None})
            finally:
                settings.modes = [*outer, mode]

        seen.__name__ = name
        return seen

    return wrap


class TorchDispatchMode:
    def __init__(self) -> None:
        pass

    def __enter__(self) -> Any:
        settings.modes.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        settings.modes.remove(self)
