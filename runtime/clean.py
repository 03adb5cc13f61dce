"""Python as it was before the first run: what a program changes in modules and settings is put back after it."""

import contextlib
import os
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from torch._random import SEED, manual_seed
from torch._settings import settings
from triton.runtime.interpreter import InterpretedFunction

# A program may set attributes of these, and of the classes that they define; the state that tensors live in is kept.
HOLDERS = ("torch", "triton", "numpy", "kernels", "builtins", "math", "os", "time", "random", "inspect")
_kept: list[tuple[Any, dict[str, Any]]] = []
_modules: set[str] = set()


def remember() -> None:
    """Take what is loaded now as the state to come back to."""
    holders: dict[int, Any] = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in HOLDERS and module is not None:
            holders[id(module)] = module
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__.split(".")[0] in ("torch", "triton"):
                    holders[id(value)] = value
    _kept[:] = [(holder, dict(vars(holder))) for holder in holders.values()]
    _modules.update(sys.modules)


def _restore(holder: Any, before: dict[str, Any]) -> None:
    now = vars(holder)
    if len(now) == len(before) and all(now.get(name, now) is value for name, value in before.items()):
        return
    for name in now.keys() - before.keys():
        with contextlib.suppress(AttributeError, TypeError):
            delattr(holder, name)
    for name, value in before.items():
        if now.get(name, now) is not value:
            with contextlib.suppress(AttributeError, TypeError):
                setattr(holder, name, value)


def _reset() -> None:
    settings.reset()
    manual_seed(SEED)


@contextlib.contextmanager
def put_back(folder: Path) -> Iterator[None]:
    """Undo afterwards what a program did to Python; the modules that lie in its folder are forgotten."""
    kept = {name: getattr(sys, name) for name in ("argv", "path", "stdin", "stdout", "stderr", "excepthook", "displayhook")}
    lists, main, environment = list(sys.path), sys.modules.get("__main__"), dict(os.environ)
    limit, errors, shown = sys.getrecursionlimit(), np.geterr(), np.get_printoptions()
    _reset()
    random.seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            yield
    finally:
        sys.settrace(None)
        for name, value in kept.items():
            setattr(sys, name, value)
        sys.path[:] = lists
        sys.setrecursionlimit(limit)
        if main is not None:
            sys.modules["__main__"] = main
        for name, module in list(sys.modules.items()):
            if name not in _modules and (getattr(module, "__file__", None) or str(folder)).startswith(str(folder)):
                del sys.modules[name]
        os.environ.clear()
        os.environ.update(environment)
        np.seterr(**errors)
        np.set_printoptions(**shown)
        # A rewritten function looks for the interpreter among its module's names, which are put back below.
        InterpretedFunction.rewritten_fn.clear()
        for holder, before in _kept:
            _restore(holder, before)
        _reset()
