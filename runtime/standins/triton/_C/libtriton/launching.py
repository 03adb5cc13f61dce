"""What is launched, by name, for the errors of memory.py. It lies within Triton, whose frames no error counts as the reader's."""

from typing import Any

import torch
from triton._C.libtriton import memory
from triton.runtime.interpreter import GridExecutor, InterpreterBuilder
from triton.tools.tensor_descriptor import TensorDescriptor


def tensors_of(arguments: dict[str, Any]) -> dict[str, Any]:
    bases = {name: value.base if isinstance(value, TensorDescriptor) else value for name, value in arguments.items()}
    return {name: value for name, value in bases.items() if isinstance(value, torch.Tensor)}


def name_what_is_launched() -> None:
    """Let an access outside of the tensors say which argument it missed, and in which program."""
    execute, set_index = GridExecutor.__call__, InterpreterBuilder.set_grid_idx

    def call(self: GridExecutor, *given: Any, **named: Any) -> Any:
        arguments = dict(zip(self.arg_names, given, strict=False)) | named
        with memory.launch.of(self.fn.__name__, tensors_of(arguments)):
            return execute(self, *given, **named)

    def set_grid_idx(self: InterpreterBuilder, *index: int) -> Any:
        memory.launch.program = index
        return set_index(self, *index)

    GridExecutor.__call__, InterpreterBuilder.set_grid_idx = call, set_grid_idx
