"""What each function under PyTorch's name is: whose place it takes, what it adds to the kernels, and what it refuses.

The declaration stands above each function, `@form(...)`; the page's table and the tests are made of these.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeVar

import torch

Function = TypeVar("Function", bound=Callable[..., Any])

# What PyTorch's autocast does to the tensors of a function: it makes them float32, or the dtype that was chosen, or leaves them.
FLOAT32, CHOSEN, AS_GIVEN = "float32", "chosen", "as given"
FROM_2_12 = "float32 from PyTorch 2.12 on, before that as given"


class Form(NamedTuple):
    """A function's declaration."""

    instead_of: str
    composed: str
    refused: str
    on_cuda: str
    on_cpu: str


DECLARATIONS: dict[str, Form] = {}


def form(
    instead_of: str, *, composed: str = "", refused: str = "", cuda: str = AS_GIVEN, cpu: str = AS_GIVEN
) -> Callable[[Function], Function]:
    """Declare a function of PyTorch's name.

    Args:
        instead_of: The function of PyTorch that it stands in for.
        composed: What kernels and PyTorch's operations do together.
        refused: Which of PyTorch's arguments it does not take.
        cuda: What autocast does to its tensors on a GPU: one of those above.
        cpu: The same on the CPU.
    """

    def declared(function: Function) -> Function:
        DECLARATIONS[function.__name__] = Form(instead_of, composed, refused, cuda, cpu)
        return function

    return declared


def refuse(name: str, argument: str) -> NoReturn:
    """Raise, for an argument that PyTorch's function takes and no kernel of the library does."""
    raise NotImplementedError(f"{argument} is not taken here; use {DECLARATIONS[name].instead_of}, which takes it")


def check_tensors(*optional: str, **tensors: Any) -> None:
    """Raise TypeError unless all are tensors; those named before may be None."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor) and not (tensor is None and name in optional):
            raise TypeError(f"{name}: expected a torch.Tensor, got {type(tensor).__name__}")


def shared_shape(names: str, what: str, *shapes: Any) -> torch.Size:
    """The shape that all of these broadcast to.

    Raises:
        ValueError: There is none.
    """
    try:
        return torch.broadcast_shapes(*shapes)
    except RuntimeError:
        found = ", ".join(str(tuple(shape)) for shape in shapes)
        raise ValueError(f"{names}: expected {what} that broadcast, got {found}") from None


def in_autocast(name: str, *tensors: Any) -> tuple[Any, ...]:
    """The tensors as autocast would give them to PyTorch's function; float64 and integers it leaves alone."""
    device = tensors[0].device.type
    if device not in ("cuda", "cpu") or not torch.is_autocast_enabled(device):
        return tensors
    policy = DECLARATIONS[name].on_cuda if device == "cuda" else DECLARATIONS[name].on_cpu
    if policy == FROM_2_12:
        policy = FLOAT32 if torch.__version__ >= (2, 12) else AS_GIVEN  # type: ignore[operator]  # PyTorch compares versions with tuples
    if policy == AS_GIVEN:
        return tensors
    dtype = torch.float32 if policy == FLOAT32 else torch.get_autocast_dtype(device)
    return tuple(t.to(dtype) if t is not None and t.is_floating_point() and t.dtype != torch.float64 else t for t in tensors)
