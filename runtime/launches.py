"""The launches of a program: which there are, and one of them recorded for the stepper.

What is recorded is a first run of the launch, whose writes are taken back; then it runs as it would anyway. So a program prints
the same whether it is watched or not, and the recording may mark what a GPU leaves undefined.
"""

import contextlib
import functools
import io
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from triton._C.libtriton import memory
from triton.runtime.interpreter import GridExecutor, InterpretedFunction, interpreter_builder
from triton.tools.tensor_descriptor import TensorDescriptor

from runtime.watching import Full, watch

MANY = 10_000  # so many programs take the interpreter seconds


def heard(words: str) -> None:
    """Who listens to what is being run; nobody, where no page does."""


class Launches:
    def __init__(self, record: bool, wanted: int, most_programs: int, most_events: int):
        self.record, self.wanted, self.most_programs, self.most_events = record, wanted, most_programs, most_events
        self.listed: list[dict[str, Any]] = []
        self.recording: dict[str, Any] | None = None
        self.ended: BaseException | None = None  # what the recording ended with, before the launch did
        self.kernel: Any = None  # the one that is being launched

    def told(self) -> dict[str, Any]:
        return {"launches": self.listed, "recording": self.recording, "recording_is_partial": self.ended is not None}

    @contextlib.contextmanager
    def attached(self, path: str) -> Iterator[None]:
        original, launch_of = GridExecutor.__call__, InterpretedFunction.run

        @functools.wraps(launch_of)  # so that an error names the function that Triton has
        def run_kernel(kernel: InterpretedFunction, *given: Any, **named: Any) -> Any:
            self.kernel = kernel
            return launch_of(kernel, *given, **named)

        def call(executor: GridExecutor, *given: Any, **named: Any) -> Any:
            if memory.launch.tried:  # autotuning, which launches each configuration, times none of them and takes the first
                return original(executor, *given, **named)
            return self.launched(path, executor, given, named, lambda: original(executor, *given, **named))

        GridExecutor.__call__, InterpretedFunction.run = call, run_kernel
        try:
            yield
        finally:
            GridExecutor.__call__, InterpretedFunction.run = original, launch_of

    def launched(self, path: str, executor: Any, given: tuple, named: dict[str, Any], launch: Callable[[], Any]) -> Any:
        arguments = dict(zip(executor.arg_names, given, strict=False)) | named
        grid = grid_of(executor, arguments)
        entry = {"number": len(self.listed), "kernel": executor.fn.__name__, "grid": grid, "line": line_in(path)}
        self.listed.append({**entry, "recorded": False, "why_not": None})
        if self.record and entry["number"] == self.wanted:
            why_not = self.recorded(tensors_of(arguments), grid, launch)
            self.listed[-1].update(recorded=not why_not, why_not=why_not)
        if grid and math.prod(grid) >= MANY:
            heard(f"the {math.prod(grid):,} programs of {entry['kernel']}")
        try:
            done = launch()
        finally:
            if self.listed[entry["number"]]["grid"] is None:
                self.listed[entry["number"]]["grid"] = list(getattr(interpreter_builder, "grid_dim", ())) or None
        if self.ended and not isinstance(self.ended, Full):  # not the kernel, then: the recorder
            self.give_up(entry["number"], self.ended)
        return done

    def give_up(self, number: int, error: BaseException) -> None:
        """A kernel that the recorder cannot follow still runs."""
        self.recording, self.ended = None, None
        why_not = f"The recorder cannot follow it ({type(error).__name__}: {error})."
        self.listed[number].update(recorded=False, why_not=why_not)

    def recorded(self, tensors: dict[str, torch.Tensor], grid: list[int] | None, launch: Callable) -> str | None:
        """Record a launch, or say why not."""
        if not tensors:
            return "It is given no tensor, so there is no memory to show."
        if grid is None:
            return "Its grid could not be told beforehand."
        programs = math.prod(grid)
        if programs > self.most_programs:
            return f"It has {programs:,} programs; up to {self.most_programs} are shown. Take a shorter input or larger blocks."
        storages = {id(storage): storage for storage in (tensor.untyped_storage() for tensor in tensors.values())}
        kept = [(storage, storage.buf.copy(), storage.version) for storage in storages.values()]
        state = torch.get_rng_state()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                self.recording, self.ended = watch(self.kernel, launch, tensors, self.most_events)
        except Exception as error:
            self.ended = error
        finally:
            torch.set_rng_state(state)
            for storage, content, version in kept:
                storage.buf[:] = content
                storage.version = version
        return None


def grid_of(executor: Any, arguments: dict[str, Any]) -> list[int] | None:
    try:
        grid = executor.grid(arguments) if callable(executor.grid) else executor.grid
        return [int(size) for size in grid]
    except Exception:  # the launch itself will say what is wrong
        return None


def tensors_of(arguments: dict[str, Any]) -> dict[str, torch.Tensor]:
    """The tensors of a launch by the names that the stepper shows: those of the arguments, without `_ptr`."""
    found: dict[str, torch.Tensor] = {}
    for name, value in arguments.items():
        parts = {f"{name}[{i}]": part for i, part in enumerate(value)} if isinstance(value, tuple) else {name: value}
        for part, tensor in parts.items():
            tensor = tensor.base if isinstance(tensor, TensorDescriptor) else tensor
            if isinstance(tensor, torch.Tensor):
                found[part.removesuffix("_ptr").removesuffix("_desc")] = tensor
    return found


def line_in(path: str) -> int | None:
    """The line of the reader's file that is being run."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno if frame else None
