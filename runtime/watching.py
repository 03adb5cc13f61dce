"""The site's recorder on a reader's kernel: with a limit, through an error, and never at the reader's expense."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton._C.libtriton import OutsideOfTensors
from triton.runtime.interpreter import InterpretedFunction, TensorHandle

from scripts.recording.recorder import MOST_VALUES, Event, Recorder, described


class Watch(Recorder):
    def __init__(self, kernel: InterpretedFunction, tensors: dict[str, torch.Tensor], most_events: int):
        super().__init__(kernel, tensors, MOST_VALUES, True)
        self.left = most_events

    def emit(self, op: str, **fields: Any) -> Event:
        if self.left <= 0:
            raise Full
        self.left -= 1
        return super().emit(op, **fields)

    def around_load(self, original: Callable) -> Callable:
        recorded = super().around_load(original)

        def create_masked_load(builder: Any, pointers: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            mask = as_block(mask)
            try:
                return recorded(builder, pointers, mask, *rest, **named)
            except OutsideOfTensors:  # a store is emitted before it happens, a load afterwards
                self.access("load", pointers, mask)
                raise

        return create_masked_load

    def around_store(self, original: Callable) -> Callable:
        recorded = super().around_store(original)

        def create_masked_store(builder: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            return recorded(builder, pointers, value, as_block(mask), *rest, **named)

        return create_masked_store


def as_block(mask: Any) -> TensorHandle:
    """A descriptor's mask, which is an array of NumPy's, as all others are."""
    return TensorHandle(mask, tl.int1) if isinstance(mask, np.ndarray) else mask


class Full(Exception):
    """There are as many events as one recording may have."""


def root(error: BaseException) -> BaseException:
    return root(error.__cause__) if error.__cause__ is not None else error


def watch(
    kernel: InterpretedFunction, launch: Callable, tensors: dict[str, torch.Tensor], most: int
) -> tuple[Event, BaseException | None]:
    """What each program of a launch did, and the error that ended it: the kernel's own, the recorder's, or Full."""
    recorder, ended = Watch(kernel, tensors, most), None
    with recorder.attached():
        try:
            launch()
        except Exception as error:
            if not recorder.grid:  # not one program began
                raise
            ended = root(error)
    axes = max(axis for axis in (1, 2, 3) if axis == 1 or recorder.grid[axis - 1] > 1)
    recording = {
        "kernel": recorder.source.function.__name__,
        "source": recorder.source.text,
        "arguments": recorder.arguments,
        "grid": list(recorder.grid[:axes]),
        "tensors": {name: described(tensor) for name, tensor in tensors.items()},
        "programs": [{"id": list(index[:axes]), "events": events} for index, events in sorted(recorder.programs.items())],
    }
    return recording, ended
