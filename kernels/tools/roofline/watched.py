"""Which kernels a piece of code launches: each launch written down, so that it can be made again."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import torch
from triton.runtime import Autotuner, JITFunction

from kernels.tools.roofline.limits import touched


class WatchedLaunch(NamedTuple):
    """One launch as it was made: what can make it again, and what is known of it."""

    again: Callable[[], Any]
    name: str
    grid: tuple[int, ...]
    tensors: list[Any]
    compiled: Any

    @property
    def programs(self) -> int:
        return prod(self.grid)

    @property
    def key(self) -> tuple:
        """Launches of one key are told once."""
        return self.name, self.grid, self.moved, getattr(self.compiled, "hash", None)

    @property
    def moved(self) -> int:
        """The bytes of the tensors that it was passed; those that begin at one place are one."""
        found: dict[int, int] = {}
        for x in self.tensors:
            size = touched(tuple(x.shape), tuple(x.stride()), x.element_size())
            found[x.data_ptr()] = max(size, found.get(x.data_ptr(), 0))
        return sum(found.values())


@contextmanager
def watching() -> Iterator[list[WatchedLaunch]]:
    """Write down every launch of a Triton kernel that is made meanwhile, but those with which an autotuner tries."""
    launches: list[WatchedLaunch] = []
    run, bench = JITFunction.run, Autotuner._bench

    def noted(kernel, *arguments, grid, warmup=False, **options):
        compiled = run(kernel, *arguments, grid=grid, warmup=warmup, **options)
        if not warmup:
            bound = bound_arguments(kernel, arguments, options)
            size = tuple(int(n) for n in (grid(bound) if callable(grid) else grid))
            tensors = [getattr(value, "base", value) for value in bound.values()]
            tensors = [value for value in tensors if isinstance(value, torch.Tensor)]
            again = partial(run, kernel, *arguments, grid=grid, warmup=False, **options)
            launches.append(WatchedLaunch(again, kernel.__name__, size, tensors, compiled))
        return compiled

    def tried(tuner, *arguments, **options):
        before = len(launches)
        try:
            return bench(tuner, *arguments, **options)
        finally:
            del launches[before:]

    JITFunction.run, Autotuner._bench = noted, tried  # type: ignore[method-assign]
    try:
        yield launches
    finally:
        JITFunction.run, Autotuner._bench = run, bench  # type: ignore[method-assign]


def bound_arguments(kernel: Any, arguments: tuple, options: dict[str, Any]) -> dict[str, Any]:
    """A launch's arguments by their names, without options such as `num_warps`."""
    bound = kernel.signature.bind(*arguments, **{name: options[name] for name in options if name in kernel.signature.parameters})
    bound.apply_defaults()
    return dict(bound.arguments)


def loaded(path: Path, name: str) -> Any:
    """Run a file, as a script where `name` is `__main__`, and return its module."""
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader, f"{path} is no Python file"
    module, before = importlib.util.module_from_spec(spec), sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        if before is not None:
            sys.modules[name] = before
    return module


def found_in(target: str) -> tuple[Callable[[], Any] | None, list[WatchedLaunch]]:
    """The function to measure of `file.py:name`; of a kernel, the launches that the file makes when it is run as a script."""
    path, _, name = target.rpartition(":")
    if not path.endswith(".py") or not Path(path).is_file():
        raise SystemExit(f"{target}: give a file and a name in it, such as your_file.py:main")
    defined = re.search(rf"^def {re.escape(name)}\b", Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    if not defined:
        raise SystemExit(f"{target}: {path} defines no {name} at its top level")
    with watching() as launches:
        module = loaded(Path(path), Path(path).stem)
        member = getattr(module, name)
        if inspect.isfunction(member):
            return member, []
        launches.clear()
        loaded(Path(path), "__main__")
    own = [launch for launch in launches if launch.name == name]
    if not own:
        raise SystemExit(f"{target}: {path}, run as a script, launches no {name}")
    return None, own
