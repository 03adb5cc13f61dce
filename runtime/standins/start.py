"""Import this before triton and torch: it turns the interpreter on and gives it what a GPU's driver would."""

import os

os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
os.environ["TRITON_BACKENDS_IN_TREE"] = "1"  # and it looks for no compilers elsewhere

import contextlib
import io
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import triton
from triton._C.libtriton import launching, memory


class Driver:
    """What programs and the autotuner ask of `triton.runtime.driver.active`."""

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda")

    def get_device_interface(self) -> types.ModuleType:
        return torch.cuda

    def get_current_device(self) -> int:
        return 0

    def get_current_target(self) -> Any:
        return types.SimpleNamespace(backend="interpreter", arch=0, warp_size=32)

    def get_benchmarker(self) -> Callable[..., list[float]]:
        return untimed


def untimed(fn: Callable[[], Any], quantiles: Any = None, **options: Any) -> list[float]:
    """Run each configuration once and time none: the interpreter's times would say nothing, so the first one wins."""
    memory.launch.tried += 1
    try:
        fn()
    finally:
        memory.launch.tried -= 1
    return [0.0, 0.0, 0.0]


def unique_by_sorting(values: Any, *given: Any, **named: Any) -> Any:
    """NumPy 2.4 looks for unique values in a hash table if that is all that is asked, and its build for browsers dies of it."""
    if given or any(named.get(name) for name in ("return_index", "return_inverse", "return_counts")):
        return UNIQUE(values, *given, **named)
    return UNIQUE(values, return_counts=True, **named)[0]


REFUSED = ("_exit", "abort", "fork", "kill", "system", "execv", "execve")
AROUND = ("js", "pyodide_js")


def refuse(*given: Any, **named: Any) -> None:
    raise PermissionError("A program in the page cannot do this.")


@contextlib.contextmanager
def closed_door() -> Iterator[None]:
    """Keep a program inside: what would end this Python raises, the page around it cannot be imported, and nobody types."""
    functions = {name: getattr(os, name) for name in REFUSED if hasattr(os, name)}
    modules, typed = {name: sys.modules.get(name) for name in AROUND}, sys.stdin
    try:
        for name in functions:
            setattr(os, name, refuse)
        sys.modules.update(dict.fromkeys(AROUND))  # type: ignore[arg-type]  an import of None fails
        sys.stdin = io.StringIO("")
        yield
    finally:
        sys.stdin = typed
        for name, function in functions.items():
            setattr(os, name, function)
        for name, module in modules.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


UNIQUE = np.unique
np.unique = unique_by_sorting
triton.runtime.driver.set_active(Driver())
launching.name_what_is_launched()
