"""The largest element: of everything, or along one dimension together with its index.

    y[i] = max_j x[i, j],    index[i] = the first j at which x[i, j] is y[i]

NaN counts as larger than every number. For n elements of e bytes the kernel reads ne bytes and does n comparisons; what
it writes is small beside that, so the memory sets the time. `kernels.reductions.plan` says which program compares what.
"""

from typing import Any

import torch

from kernels.common.arguments import check_dim, check_float_tensor, on_device_of
from kernels.reductions.max_tile import max_planned
from kernels.reductions.plan import reduction_plan


def max_forward(x: torch.Tensor, dim: int | None) -> Any:
    """The largest element without a gradient: a pair where there is a dim, else a tensor and None."""
    if x.numel() == 0 and dim is not None:
        values, indices = torch.max(x, dim)
        return values, indices
    x = x.resolve_neg()
    plan = reduction_plan(x.shape, x.stride(), dim, indices=dim is not None)
    y = x.new_empty(plan.shape)
    index = None if dim is None else torch.empty(plan.shape, dtype=torch.int64, device=x.device)
    with on_device_of(x):
        max_planned(x.contiguous() if plan.copy else x, y, index, plan)
    return y, index


class Max(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y, _ = max_forward(x, None)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, dy):
        # Elements that share the first place share the gradient evenly.
        x, y = ctx.saved_tensors
        first = (x == y) | (x.isnan() & y.isnan())
        return first * (dy / first.sum())


class MaxAlong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        y, index = max_forward(x, dim)
        ctx.shape, ctx.dim = x.shape, dim
        ctx.save_for_backward(index)
        ctx.mark_non_differentiable(index)
        return y, index

    @staticmethod
    def backward(ctx, dy, _):
        # The gradient goes to the one element whose index was returned.
        (index,) = ctx.saved_tensors
        if not ctx.shape:
            return dy, None
        zeros = torch.zeros(ctx.shape, dtype=dy.dtype, device=dy.device)
        return zeros.scatter(ctx.dim, index.unsqueeze(ctx.dim), dy.unsqueeze(ctx.dim)), None


def max(x: torch.Tensor, dim: int | None = None) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Find the largest element of `x`, or those along one dimension with their indices, as `torch.max` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([[1.0, 7.0, 7.0], [4.0, 2.0, 0.0]], device=device)
        values, indices = kernels.max(x, dim=1)
        print(kernels.max(x).item(), values.tolist(), indices.tolist())
        #> 7.0 [7.0, 4.0] [1, 0]
        ```

    Args:
        x: A tensor of any shape and strides; float32, float16 or bfloat16.
        dim: The dimension to search, from `-x.ndim` to `x.ndim - 1`, or None for all of them.

    Returns:
        Without `dim`, a tensor of the dtype of `x` without dimensions. With it, the named tuple `(values, indices)` that
            `torch.max` returns: both have the shape of `x` without `dim`, the indices are int64 and are those of the
            first of several equal elements. (For the values alone, `torch.amax` has a `dim` and no indices.) NaN is
            larger than every number, as in PyTorch.

    Raises:
        TypeError: `x` is not a tensor or has another dtype (an integer tensor, for example), or `dim` is neither int nor None.
        ValueError: there is nothing to choose from (no elements, or a `dim` of size 0), `dim` is out of range, or a CPU
            tensor came while Triton's interpreter is off.

    Differentiable, any number of times, as in PyTorch: without `dim`, elements that share the first place share the
    gradient evenly; with it, the gradient goes to the element at the index that was returned.

    Bytes:
        For n elements of e bytes, ne read. Any dimension is searched where it lies, without a copy. Only where what
        remains has more than two strides, or everything is searched and has more than one, `x` is copied first.

    Flops:
        n comparisons.

    Source:
        The definition; M. Harris, "Optimizing parallel reduction in CUDA", 2007, for results of many programs.
    """
    check_float_tensor("x", x)
    if dim is not None:
        dim = check_dim("dim", dim, x)
    if x.numel() == 0 and (dim is None or x.shape[dim] == 0):
        where = "" if dim is None else f" along dim {dim}"
        raise ValueError(f"x: expected at least one element{where}, got shape {tuple(x.shape)}")
    grad = torch.is_grad_enabled() and x.requires_grad
    if dim is None:
        return Max.apply(x) if grad else max_forward(x, None)[0]
    found: tuple[torch.Tensor, torch.Tensor] = MaxAlong.apply(x, dim) if grad else max_forward(x, dim)
    return torch.return_types.max(found)


def max_reference(x: torch.Tensor, dim: int | None = None) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """The same operation in plain PyTorch."""
    return torch.max(x) if dim is None else torch.max(x, dim)
