"""Sums and maxima under PyTorch's names, over any dimensions."""

from typing import Any

import torch

from kernels.common.arguments import check_dim, check_float_tensor
from kernels.functional.batching import batched, behind, in_front
from kernels.functional.forms import FLOAT32, check_tensors, form, in_autocast
from kernels.functional.transforms import is_transformed
from kernels.operators.reductions import max_along_operator, sum_operator
from kernels.operators.register import wants_gradient
from kernels.reductions.max import max_forward
from kernels.reductions.sum import Sum, sum_forward

Dims = int | tuple[int, ...] | list[int] | None


def map_sum(info, dims, x, dim):
    x = in_front(info, x, dims[0])
    if x.ndim == 1:
        return x.clone(), 0
    return (sum_operator(x.flatten(1), 1) if dim is None else sum_operator(x, behind(dim))), 0


def map_max_along(info, dims, x, dim):
    x = in_front(info, x, dims[0])
    if x.ndim == 1:
        return (x.clone(), torch.zeros_like(x, dtype=torch.int64)), (0, 0)
    return max_along_operator(x, behind(dim)), (0, 0)


sum_batched = batched(sum_operator, map_sum)
max_along_batched = batched(max_along_operator, map_max_along)


class SumTransformed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, dim):
        return sum_batched(x, dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.shape, ctx.dim = inputs[0].shape, inputs[1]

    @staticmethod
    def backward(ctx, dy):
        return (dy if ctx.dim is None or not ctx.shape else dy.unsqueeze(ctx.dim)).expand(ctx.shape), None


class LargestTransformed(torch.autograd.Function):
    """The largest numbers along a dimension; those that share the place share the gradient, as in `torch.amax`."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, dim):
        return max_along_batched(x, dim)[0]

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.dim = inputs
        ctx.save_for_backward(x, output)

    @staticmethod
    def backward(ctx, dy):
        x, y = ctx.saved_tensors
        first = x == y.unsqueeze(ctx.dim)
        return first * (dy / first.sum(ctx.dim)).unsqueeze(ctx.dim), None


def reduced(x: torch.Tensor, dim: Dims, argument: str = "dim") -> list[int]:
    """The dimensions that a call names, counted from the front and in order; none named is all."""
    named = [dim] if isinstance(dim, int) else [*dim] if isinstance(dim, tuple | list) else dim
    if named is not None and not isinstance(named, list):
        raise TypeError(f"{argument}: expected an int, a tuple of int or None, got {type(dim).__name__}")
    if not named:
        return [*range(x.ndim)]
    found = sorted(check_dim(argument, one, x) for one in named)
    if len({*found}) < len(found):
        raise ValueError(f"{argument}: expected each dimension once, got {tuple(named)}")
    return found if x.ndim else []


def gathered(x: torch.Tensor, dims: list[int]) -> tuple[torch.Tensor, int]:
    """The tensor with these dimensions as one, and which that is: where they are neighbors in memory nothing is copied."""
    first, last = dims[0], dims[-1]
    if last - first + 1 == len(dims):
        return (x.flatten(first, last) if last > first else x), first
    kept = [d for d in range(x.ndim) if d not in dims]
    return x.permute(*kept, *dims).flatten(len(kept)), len(kept)


def kept_dims(y: torch.Tensor, dims: list[int], keepdim: bool) -> torch.Tensor:
    for dim in dims if keepdim else ():
        y = y.unsqueeze(dim)
    return y


@form(
    "torch.sum",
    composed="Several dimensions are made one first, which copies `input` unless they are neighbors.",
    refused="sums of integers and of float64",
    cuda=FLOAT32,
)
def sum(
    input: torch.Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """`torch.sum`, computed by `kernels.sum`: over all, over one dimension or over several.

    Args:
        input: float32, float16 or bfloat16; with `dtype` anything that can become one of them.
        dim: One dimension or several; None and `()` stand for all.
        keepdim: Whether the dimensions stay, with size 1.
        dtype: What `input` becomes before it is added up; None leaves it.

    Examples:
        >>> import kernels.functional as F
        >>> F.sum(torch.ones(2, 3, 4), dim=(0, 2), keepdim=True)
        tensor([[[8.],
                 [8.],
                 [8.]]])
    """
    check_tensors(input=input)
    if input.is_meta:
        return torch.sum(input, dim, keepdim, dtype=dtype)
    if not isinstance(dtype, torch.dtype | None):
        raise TypeError(f"dtype: expected a torch.dtype or None, got {type(dtype).__name__}")
    x = input.to(dtype) if dtype is not None else in_autocast("sum", input)[0]
    check_float_tensor("input", x)
    dims = reduced(x, dim)
    if len(dims) == x.ndim:
        return kept_dims(sum_along(x, None), dims, keepdim)
    return kept_dims(sum_along(*gathered(x, dims)), dims, keepdim)


def sum_along(x: torch.Tensor, dim: int | None) -> torch.Tensor:
    if is_transformed(x):
        return SumTransformed.apply(x, dim)
    if torch.compiler.is_compiling():
        return sum_operator(x, dim)
    return Sum.apply(x, dim) if wants_gradient(x) else sum_forward(x, dim)


@form(
    "torch.amax",
    composed="Several dimensions are made one first, as in `sum`. The gradient is PyTorch's operations.",
    refused="maxima of integers and of float64",
)
def amax(input: torch.Tensor, dim: Dims = (), keepdim: bool = False) -> torch.Tensor:
    """`torch.amax`, computed by the kernel of `kernels.max`. Equal largest elements share the gradient, as there.

    Examples:
        >>> import kernels.functional as F
        >>> F.amax(torch.tensor([[1.0, 5.0], [7.0, 3.0]]), dim=1)
        tensor([5., 7.])
    """
    check_tensors(input=input)
    if input.is_meta:
        return torch.amax(input, () if dim is None else dim, keepdim)
    check_float_tensor("input", input)
    dims = reduced(input, dim)
    if not dims:
        return input.clone()
    x, place = gathered(input, dims)
    if x.shape[place] == 0:
        raise ValueError(f"input: expected at least one element along dim {dims}, got shape {tuple(input.shape)}")
    if is_transformed(x) or torch.compiler.is_compiling() or wants_gradient(x):
        found: Any = LargestTransformed.apply(x, place)
    else:
        found = max_forward(x, place)[0]
    return kept_dims(found, dims, keepdim)
