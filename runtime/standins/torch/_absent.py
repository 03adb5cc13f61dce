"""What the stand-in does not have says so, and names what is near."""

import difflib
import types
from collections.abc import Callable
from typing import Any

WHY = {
    "export": "torch.export makes graphs",
    "_inductor": "torch.compile writes and compiles code",
    "_dynamo": "torch.compile writes and compiles code",
    "vmap": "there is no vmap here",
    "func": "there are no function transforms here",
    "jit": "there is no TorchScript here",
    "profiler": "times in this page say nothing about a GPU",
}
INSTALL = "Run this program where PyTorch is installed."


def of(module: str, content: dict[str, Any]) -> Callable[[str], Any]:
    """A module's `__getattr__`: it is asked for names that are not there."""

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        text = f"The stand-in for PyTorch in this page has no {module}.{name}"
        if why := WHY.get(name):
            raise AttributeError(f"{text}: {why}. {INSTALL}")
        known = [each for each, value in content.items() if each[0] != "_" and not isinstance(value, types.ModuleType)]
        near = difflib.get_close_matches(name, known)
        there = f"There is {', '.join(near)}." if near else INSTALL
        raise AttributeError(f"{text}. {there}")

    return missing


def refuses_to_compile(*given: Any, **named: Any) -> None:
    raise RuntimeError(f"The stand-in for PyTorch in this page has no torch.compile: it writes and compiles code. {INSTALL}")


def needs_gpu(name: str) -> Callable:
    def refuse(*given: Any, **named: Any) -> None:
        raise RuntimeError(f"{name} needs a GPU, and there is none in this page.")

    refuse.__name__ = name.rpartition(".")[2]
    return refuse
