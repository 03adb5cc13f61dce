"""The operators of `add_rms_norm`."""

import math

import torch

from kernels.common.arguments import check_like
from kernels.norm.add_rms_norm import add_rms_norm_backward, add_rms_norm_forward
from kernels.norm.norm import check_norm_arguments
from kernels.operators.register import operator, wants_gradient


def run_add_rms_norm(x, residual, weight, eps, statistics):
    check_norm_arguments(x, weight, None, eps)
    check_like("residual", residual, "x", x)
    y, total, rstd = add_rms_norm_forward(x, residual, weight, eps, statistics)
    return y, total, x.new_empty(0, dtype=torch.float32) if rstd is None else rstd


def fake_add_rms_norm(x, residual, weight, eps, statistics):
    check_norm_arguments(x, weight, None, eps)
    check_like("residual", residual, "x", x)
    y, total = (torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(2))
    return y, total, x.new_empty(math.prod(x.shape[:-1]) if statistics else 0, dtype=torch.float32)


def run_add_rms_norm_backward(total, weight, dy, dsum, rstd, weight_dtype):
    dx, dweight = add_rms_norm_backward(total, weight, dy, dsum, rstd, weight_dtype)
    return dx, total.new_empty(0) if dweight is None else dweight


def fake_add_rms_norm_backward(total, weight, dy, dsum, rstd, weight_dtype):
    size = 0 if weight_dtype is None else total.shape[-1]
    return torch.empty_like(total), total.new_empty(size, dtype=weight_dtype or total.dtype)


add_rms_norm_backward_operator = operator(
    "add_rms_norm_backward(Tensor total, Tensor? weight, Tensor dy, Tensor dsum, Tensor rstd, ScalarType? weight_dtype) "
    "-> (Tensor, Tensor)",
    run_add_rms_norm_backward,
    fake_add_rms_norm_backward,
)


def keep_add_rms_norm(ctx, inputs, output) -> None:
    _, _, weight, ctx.eps, ctx.statistics = inputs
    ctx.mark_non_differentiable(output[2])
    ctx.save_for_backward(output[1], weight, output[2])


def backward_add_rms_norm(ctx, dy, dsum, *_):
    total, weight, rstd = ctx.saved_tensors
    if not ctx.statistics:
        rstd = add_rms_norm_operator(total, torch.zeros_like(total), None, ctx.eps, True)[2]
    dtype = weight.dtype if ctx.needs_input_grad[2] else None
    dx, dweight = add_rms_norm_backward_operator(total, weight, dy, dsum, rstd, dtype)
    return dx, dx, None if dtype is None else dweight, None, None


add_rms_norm_operator = operator(
    "add_rms_norm(Tensor x, Tensor residual, Tensor? weight, float eps, bool statistics) -> (Tensor, Tensor, Tensor)",
    run_add_rms_norm,
    fake_add_rms_norm,
    backward_add_rms_norm,
    keep_add_rms_norm,
)


def add_rms_norm_in_graph(x, residual, weight=None, eps=None):
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    return add_rms_norm_operator(x, residual, weight, eps, wants_gradient(x, residual, weight))[:2]
