"""Rules of `torch.vmap` for the operators: the mapped dimension becomes more rows, so that one launch serves all.

Where that cannot be, as for weights that are mapped themselves, the operator runs once for each, and the results are stacked.
"""

from collections.abc import Callable
from typing import Any

import torch

from kernels.operators.register import LIBRARY


def batched(operator: Callable[..., Any], rule: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The operator, which from now on has a rule for `torch.vmap`."""
    name = operator.name()  # type: ignore[attr-defined]
    torch.library.register_vmap(name, rule or one_by_one(operator), lib=LIBRARY)
    return operator


def one_by_one(operator: Callable[..., Any]) -> Callable[..., Any]:
    """The rule that serves every operator, with a launch for each."""

    def rule(info: Any, dims: tuple[int | None, ...], *arguments: Any) -> tuple[Any, Any]:
        mapped = [one.movedim(d, 0) if d is not None else one for one, d in zip(arguments, dims, strict=True)]
        found = []
        for number in range(info.batch_size):
            found.append(operator(*(one[number] if d is not None else one for one, d in zip(mapped, dims, strict=True))))
        if isinstance(found[0], torch.Tensor):
            return torch.stack(found), 0
        return tuple(torch.stack(parts) for parts in zip(*found, strict=True)), (0,) * len(found[0])

    return rule


def in_front(info: Any, tensor: torch.Tensor, dim: int | None) -> torch.Tensor:
    """The tensor with the mapped dimension first; what is not mapped is seen as often as it is needed."""
    return tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


def behind(dim: int) -> int:
    """A dimension of one call, counted where the mapped dimension stands before all others."""
    return dim if dim < 0 else dim + 1


def folded(info: Any, tensor: torch.Tensor, dim: int | None) -> torch.Tensor:
    """The tensor with the mapped dimension and its own first one as one."""
    front = in_front(info, tensor, dim)
    return front.reshape(front.shape[0] * front.shape[1], *front.shape[2:])


def laid_out_calls(info: Any, tensor: torch.Tensor, dim: int | None) -> torch.Tensor:
    """`folded`, with memory of its own for what is not mapped, as kernels expect of what other kernels have left for them."""
    return folded(info, tensor, dim).contiguous()


def parted(info: Any, tensor: torch.Tensor) -> torch.Tensor:
    """Undo `folded` on a result."""
    return tensor.view(info.batch_size, tensor.shape[0] // info.batch_size, *tensor.shape[1:])


def nothing(info: Any, like: torch.Tensor) -> torch.Tensor:
    """What stands for a result that nobody asked for, as often as there are calls."""
    return like.new_empty(info.batch_size, *like.shape) if like.numel() == 0 else like
