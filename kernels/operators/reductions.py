"""The operators of `sum`, `max` and `histogram`."""

import torch

from kernels.common.arguments import check_count, check_countable_tensor, check_dim, check_float_tensor
from kernels.operators.register import CUDAGRAPH_UNSAFE, operator
from kernels.reductions.histogram import MOST_BINS, histogram
from kernels.reductions.max import max_forward
from kernels.reductions.sum import sum_forward


def reduced_dim(x, dim):
    """Check what a reduction is given; return `dim` counted from the front."""
    check_float_tensor("x", x)
    return None if dim is None else check_dim("dim", dim, x)


def reduced_shape(x, dim):
    """The shape of `x` without `dim`."""
    return () if dim is None or not x.ndim else (*x.shape[:dim], *x.shape[dim + 1 :])


def run_sum(x, dim):
    return sum_forward(x, reduced_dim(x, dim))


def fake_sum(x, dim):
    return x.new_empty(reduced_shape(x, reduced_dim(x, dim)))


def keep_sum(ctx, inputs, output) -> None:
    x, dim = inputs
    ctx.shape, ctx.dim = x.shape, dim


def backward_sum(ctx, dy):
    dy = dy if ctx.dim is None or not ctx.shape else dy.unsqueeze(ctx.dim % len(ctx.shape))
    return dy.expand(ctx.shape), None


sum_operator = operator("sum(Tensor x, int? dim) -> Tensor", run_sum, fake_sum, backward_sum, keep_sum, CUDAGRAPH_UNSAFE)


def sum_in_graph(x, dim=None):
    return sum_operator(x, dim)


def check_max(x, dim):
    """Check what `max` is given; return `dim` counted from the front."""
    dim = reduced_dim(x, dim)
    if x.numel() == 0 and (dim is None or x.shape[dim] == 0):
        where = "" if dim is None else f" along dim {dim}"
        raise ValueError(f"x: expected at least one element{where}, got shape {tuple(x.shape)}")
    return dim


def run_max(x):
    return max_forward(x, check_max(x, None))[0]


def fake_max(x):
    check_max(x, None)
    return x.new_empty(())


def keep_max(ctx, inputs, output) -> None:
    ctx.save_for_backward(*inputs, output)


def backward_max(ctx, dy):
    # Elements that share the first place share the gradient evenly.
    x, y = ctx.saved_tensors
    first = (x == y) | (x.isnan() & y.isnan())
    return first * (dy / first.sum())


max_operator = operator("max(Tensor x) -> Tensor", run_max, fake_max, backward_max, keep_max, CUDAGRAPH_UNSAFE)


def run_max_along(x, dim):
    return max_forward(x, check_max(x, dim))


def fake_max_along(x, dim):
    shape = reduced_shape(x, check_max(x, dim))
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


def keep_max_along(ctx, inputs, output) -> None:
    x, dim = inputs
    ctx.shape, ctx.dim = x.shape, dim
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(output[1])


def backward_max_along(ctx, dy, _):
    # The gradient goes to the one element whose index was returned.
    if not ctx.shape:
        return dy, None
    dim = ctx.dim % len(ctx.shape)
    zeros = torch.zeros(ctx.shape, dtype=dy.dtype, device=dy.device)
    return zeros.scatter(dim, ctx.saved_tensors[0].unsqueeze(dim), dy.unsqueeze(dim)), None


max_along_operator = operator(
    "max_along(Tensor x, int dim) -> (Tensor, Tensor)",
    run_max_along,
    fake_max_along,
    backward_max_along,
    keep_max_along,
    CUDAGRAPH_UNSAFE,
)


def max_in_graph(x, dim=None):
    return max_operator(x) if dim is None else torch.return_types.max(max_along_operator(x, dim))


def run_histogram(x, bins, low, high):
    return histogram(x, bins, low, high)


def fake_histogram(x, bins, low, high):
    check_countable_tensor("x", x)
    check_count("bins", bins, 1, MOST_BINS)
    if (low is None) != (high is None):
        raise ValueError(f"min, max: expected both or neither, got {low} and {high}")
    if low is not None and not x.is_floating_point():
        raise TypeError(f"min, max: expected neither for dtype {str(x.dtype).removeprefix('torch.')}, whose bins are its values")
    return x.new_empty(bins, dtype=torch.int64)


histogram_operator = operator(
    "histogram(Tensor x, int bins, float? min, float? max) -> Tensor", run_histogram, fake_histogram, tags=CUDAGRAPH_UNSAFE
)


def histogram_in_graph(x, bins, min=None, max=None):
    return histogram_operator(x.detach(), bins, min, max)
