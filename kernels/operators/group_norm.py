"""The operators of `group_norm`."""

import torch

from kernels.norm.group_norm import check_group_norm_arguments, group_norm_backward, group_norm_forward
from kernels.operators.register import operator, wants_gradient


def run_group_norm(x, num_groups, weight, bias, eps, statistics):
    check_group_norm_arguments(x, num_groups, weight, bias, eps)
    y, mean, rstd = group_norm_forward(x, num_groups, weight, bias, eps, statistics)
    nothing = x.new_empty(2, 0, dtype=torch.float32)
    return y, nothing if mean is None else torch.stack((mean, rstd))


def fake_group_norm(x, num_groups, weight, bias, eps, statistics):
    check_group_norm_arguments(x, num_groups, weight, bias, eps)
    sizes = (2, x.shape[0], num_groups) if statistics else (2, 0)
    return torch.empty_like(x, memory_format=torch.contiguous_format), x.new_empty(sizes, dtype=torch.float32)


def run_group_norm_backward(x, weight, dy, statistics, weight_dtype, bias_dtype):
    mean, rstd = statistics.contiguous()  # what vmap hands over may have gaps
    dx, dweight, dbias = group_norm_backward(x, weight, dy, mean, rstd, (weight_dtype, bias_dtype))
    return dx, *(x.new_empty(0) if one is None else one for one in (dweight, dbias))


def fake_group_norm_backward(x, weight, dy, statistics, weight_dtype, bias_dtype):
    sums = (x.new_empty(0 if dtype is None else x.shape[1], dtype=dtype or x.dtype) for dtype in (weight_dtype, bias_dtype))
    return torch.empty_like(x, memory_format=torch.contiguous_format), *sums


group_norm_backward_operator = operator(
    "group_norm_backward(Tensor x, Tensor? weight, Tensor dy, Tensor statistics, ScalarType? weight_dtype, "
    "ScalarType? bias_dtype) -> (Tensor, Tensor, Tensor)",
    run_group_norm_backward,
    fake_group_norm_backward,
)


def keep_group_norm(ctx, inputs, output) -> None:
    x, ctx.num_groups, weight, bias, ctx.eps, ctx.statistics = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(x, weight, bias, output[1])


def backward_group_norm(ctx, dy, *_):
    x, weight, bias, statistics = ctx.saved_tensors
    if not ctx.statistics:
        statistics = group_norm_operator(x, ctx.num_groups, None, None, ctx.eps, True)[1]
    dtypes = [t.dtype if needed else None for t, needed in zip((weight, bias), ctx.needs_input_grad[2:4], strict=True)]
    dx, *sums = group_norm_backward_operator(x, weight, dy, statistics, *dtypes)
    return dx, None, *(None if dtype is None else one for one, dtype in zip(sums, dtypes, strict=True)), None, None


group_norm_operator = operator(
    "group_norm(Tensor x, int num_groups, Tensor? weight, Tensor? bias, float eps, bool statistics) -> (Tensor, Tensor)",
    run_group_norm,
    fake_group_norm,
    backward_group_norm,
    keep_group_norm,
)


def group_norm_in_graph(x, num_groups, weight=None, bias=None, eps=1e-5):
    return group_norm_operator(x, num_groups, weight, bias, eps, wants_gradient(x, weight, bias))[0]
