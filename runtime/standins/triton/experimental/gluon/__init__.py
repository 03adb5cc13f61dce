"""A stand-in for Gluon. Its kernels can be defined and not launched: they run on a GPU alone, after Triton's compiler."""

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

NAME = __name__


class Anything:
    """What is asked of Gluon's language where a kernel is defined. It can be called, and gives more of its kind."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, *given: Any, **named: Any) -> "Anything":
        return Anything(f"{self.name}(...)")

    def __getattr__(self, name: str) -> "Anything":
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(f"{self.name}.{name}")


class Module(types.ModuleType):
    def __getattr__(self, name: str) -> Anything:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(f"{self.__name__.removeprefix(NAME + '.')}.{name}")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module below this one."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.startswith(f"{NAME}.") else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Module:
        return Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class Kernel:
    def __init__(self, function: Callable):
        self.fn, self.__name__ = function, function.__name__

    def __getitem__(self, grid: Any) -> Callable:
        def launch(*given: Any, **named: Any) -> None:
            raise RuntimeError(f"{self.__name__} is a Gluon kernel, which runs on a GPU alone.")

        return launch

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self[None](*given, **named)


def jit(function: Callable | None = None, **options: Any) -> Any:
    return Kernel(function) if function else Kernel


def constexpr_function(function: Callable) -> Callable:
    return function


sys.meta_path.append(Finder())
