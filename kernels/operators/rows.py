"""The operators of functions along rows: `softmax`, `layer_norm` and `rms_norm`."""

import math

import torch

from kernels.common.arguments import check_dim, check_float_tensor
from kernels.norm.norm import check_norm_arguments, norm_backward, norm_forward
from kernels.operators.register import operator, wants_gradient
from kernels.softmax.softmax import softmax_backward, softmax_forward


def run_softmax(x, dim):
    check_float_tensor("x", x)
    return softmax_forward(x, check_dim("dim", dim, x))


def fake_softmax(x, dim):
    check_float_tensor("x", x)
    return fake_softmax_backward(x, x, check_dim("dim", dim, x))


def run_softmax_backward(y, dy, dim):
    return softmax_backward(y, dy, check_dim("dim", dim, y))


def fake_softmax_backward(y, dy, dim):
    if y.ndim == 0 or y.numel() == 0:
        return torch.empty_like(y)
    # Rows are what lies side by side in the result, whichever dimension they were.
    return torch.empty_like(y.movedim(dim, -1), memory_format=torch.contiguous_format).movedim(-1, dim)


softmax_backward_operator = operator(
    "softmax_backward(Tensor y, Tensor dy, int dim) -> Tensor", run_softmax_backward, fake_softmax_backward
)


def keep_softmax(ctx, inputs, output) -> None:
    ctx.dim = inputs[1]
    ctx.save_for_backward(output)


def backward_softmax(ctx, dy):
    return softmax_backward_operator(*ctx.saved_tensors, dy, ctx.dim), None


softmax_operator = operator(
    "softmax(Tensor x, int dim) -> Tensor", run_softmax, fake_softmax, backward_softmax, keep_softmax
)


def softmax_in_graph(x, dim=-1):
    return softmax_operator(x, dim)


def run_norm(x, weight, bias, eps, centered, statistics):
    check_norm_arguments(x, weight, bias, eps)
    y, mean, rstd = norm_forward(x, weight, bias, eps, centered, statistics)
    return y, *(x.new_empty(0, dtype=torch.float32) if part is None else part for part in (mean, rstd))


def fake_norm(x, weight, bias, eps, centered, statistics):
    check_norm_arguments(x, weight, bias, eps)
    rows = math.prod(x.shape[:-1])  # not .numel(), which would make a length that may change a fixed one
    sizes = (rows if statistics and centered else 0, rows if statistics else 0)
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    return y, *(x.new_empty(size, dtype=torch.float32) for size in sizes)


def run_norm_backward(x, weight, dy, mean, rstd, weight_dtype, bias_dtype):
    mean = mean if mean.numel() == rstd.numel() else None
    gradients = norm_backward(x, weight, dy, mean, rstd, (weight_dtype, bias_dtype))
    return tuple(x.new_empty(0) if gradient is None else gradient for gradient in gradients)


def fake_norm_backward(x, weight, dy, mean, rstd, weight_dtype, bias_dtype):
    dx = torch.empty_like(x, memory_format=torch.contiguous_format)
    dtypes = (weight_dtype, bias_dtype)
    return dx, *(x.new_empty(0 if dtype is None else x.shape[-1], dtype=dtype or x.dtype) for dtype in dtypes)


norm_backward_operator = operator(
    "norm_backward(Tensor x, Tensor? weight, Tensor dy, Tensor mean, Tensor rstd, ScalarType? weight_dtype, "
    "ScalarType? bias_dtype) -> (Tensor, Tensor, Tensor)",
    run_norm_backward,
    fake_norm_backward,
)


def keep_norm(ctx, inputs, output) -> None:
    x, weight, bias, ctx.eps, ctx.centered, ctx.statistics = inputs
    ctx.bias_dtype = None if bias is None else bias.dtype
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(x, weight, *output[1:])


def backward_norm(ctx, dy, *_):
    x, weight, mean, rstd = ctx.saved_tensors
    if not ctx.statistics:
        _, mean, rstd = norm_operator(x, None, None, ctx.eps, ctx.centered, True)
    needed = ctx.needs_input_grad
    dtypes = (weight.dtype if needed[1] else None, ctx.bias_dtype if needed[2] else None)
    dx, *rest = norm_backward_operator(x, weight, dy, mean, rstd, *dtypes)
    return dx, *(None if dtype is None else part for part, dtype in zip(rest, dtypes, strict=True)), None, None, None


norm_operator = operator(
    "norm(Tensor x, Tensor? weight, Tensor? bias, float eps, bool centered, bool statistics) -> (Tensor, Tensor, Tensor)",
    run_norm,
    fake_norm,
    backward_norm,
    keep_norm,
)


def layer_norm_in_graph(x, weight=None, bias=None, eps=1e-5):
    return norm_operator(x, weight, bias, eps, True, wants_gradient(x, weight, bias))[0]


def rms_norm_in_graph(x, weight=None, eps=None):
    eps = torch.finfo(torch.float32).eps if eps is None else eps
    return norm_operator(x, weight, None, eps, False, wants_gradient(x, weight))[0]
