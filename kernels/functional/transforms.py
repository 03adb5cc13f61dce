"""How a call learns that its tensors are more than memory, and what the functions share that serve it then.

Called plainly, a function launches its kernels from Python. Under a transform of `torch.func`, under a mode that watches
operators (fake tensors, counted operations) and for a subclass of tensors it calls operators of `torch.ops.blockwise` instead,
from functions of autograd that keep their context apart, as transforms ask. Gradients of gradients are PyTorch operations.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

PLAIN = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)


def is_transformed(*tensors: torch.Tensor | None) -> bool:
    """Whether somebody stands between the call and the memory of its tensors, other than a compiler that records it."""
    if torch.compiler.is_compiling():
        return False
    if torch._C._are_functorch_transforms_active() or is_in_torch_dispatch_mode():
        return True
    return any(tensor is not None and type(tensor) not in PLAIN for tensor in tensors)


def through_reference(reference: Callable[..., Any], inputs: tuple[torch.Tensor, ...], gradients: Any) -> tuple[Any, ...]:
    """The gradients of `inputs`, by PyTorch operations that compute the same as a kernel."""
    return torch.func.vjp(reference, *inputs)[1](gradients)


def as_asked(context: Any, count: int, found: dict[int, Any]) -> tuple[Any, ...]:
    """As many gradients as there were arguments; None for those that have none."""
    return tuple(found.get(place) if context.needs_input_grad[place] else None for place in range(count))
