"""The site's recorder on a reader's kernel: with a limit, through an error, and never at the reader's expense."""

import sys
from collections.abc import Callable
from typing import Any

import torch
from triton._C.libtriton import OutsideOfTensors
from triton.runtime.interpreter import InterpretedFunction

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
            try:
                return recorded(builder, pointers, mask, *rest, **named)
            except OutsideOfTensors:  # a store is emitted before it happens, a load afterwards
                self.access("load", pointers, mask)
                raise

        return create_masked_load


class Full(Exception):
    """There are as many events as one recording may have."""


def watch(kernel: InterpretedFunction, launch: Callable, tensors: dict[str, torch.Tensor], most: int) -> tuple[Event, bool]:
    """What each program of a launch did, and whether it went on after that: it failed, or did too much to be shown."""
    recorder, whole = Watch(kernel, tensors, most), False
    with recorder.attached():
        try:
            launch()
            whole = True
        except Exception:  # the launch is run once more, and will raise it again
            if not any(recorder.programs.values()):
                raise
        finally:
            sys.settrace(None)
    axes = max(axis for axis in (1, 2, 3) if axis == 1 or recorder.grid[axis - 1] > 1)
    recording = {
        "kernel": recorder.source.function.__name__,
        "source": recorder.source.text,
        "arguments": recorder.arguments,
        "grid": list(recorder.grid[:axes]),
        "tensors": {name: described(tensor) for name, tensor in tensors.items()},
        "programs": [{"id": list(index[:axes]), "events": events} for index, events in sorted(recorder.programs.items())],
    }
    return recording, not whole
