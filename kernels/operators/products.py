"""The operators of matrix products: `matmul`, `scaled_matmul` and `layer_norm_linear`."""

import math

import torch

from kernels.layer_norm_linear import check_layer_norm_linear_arguments
from kernels.matmul.matmul import check_matmul_arguments, matmul_forward, matmul_slope
from kernels.matmul.scaled_matmul import check_scaled_arguments, scaled_matmul
from kernels.norm.norm import norm_forward
from kernels.operators.register import CUDAGRAPH_UNSAFE, operator, wants_gradient
from kernels.operators.rows import norm_backward_operator


def run_matmul(a, b, bias, activation, autotune, keep):
    check_matmul_arguments(a, b, bias, activation)
    keep = keep and activation not in (None, "relu")
    c, z = matmul_forward(a, b, bias, activation, autotune, keep)
    return c, z if keep else a.new_empty(0)


def fake_matmul(a, b, bias, activation, autotune, keep):
    check_matmul_arguments(a, b, bias, activation)
    c = a.new_empty(a.shape[0], b.shape[1])
    return c, torch.empty_like(c) if keep and activation not in (None, "relu") else a.new_empty(0)


def keep_matmul(ctx, inputs, output) -> None:
    a, b, bias, ctx.activation, ctx.autotune, ctx.keep = inputs
    ctx.mark_non_differentiable(output[1])
    # What the activation was given; the slope of relu is known from its result.
    z = {None: None, "relu": output[0]}.get(ctx.activation, output[1])
    ctx.save_for_backward(a, b, bias, z)


def backward_matmul(ctx, dc, _):
    a, b, bias, z = ctx.saved_tensors
    if ctx.activation not in (None, "relu") and not ctx.keep:
        z = matmul_operator(a, b, bias, None, ctx.autotune, False)[0]
    with torch.no_grad():
        dz = matmul_slope(dc, z, ctx.activation)
    needed = ctx.needs_input_grad
    da = matmul_operator(dz, b.mT, None, None, ctx.autotune, False)[0] if needed[0] else None
    db = matmul_operator(a.mT, dz, None, None, ctx.autotune, False)[0] if needed[1] else None
    dbias = dz.sum(0, dtype=torch.float32).to(bias.dtype) if needed[2] else None
    return da, db, dbias, None, None, None


matmul_operator = operator(
    "matmul(Tensor a, Tensor b, Tensor? bias, str? activation, bool autotune, bool keep) -> (Tensor, Tensor)",
    run_matmul,
    fake_matmul,
    backward_matmul,
    keep_matmul,
    CUDAGRAPH_UNSAFE,
)


def matmul_in_graph(a, b, bias=None, activation=None, autotune=False):
    return matmul_operator(a, b, bias, activation, autotune, wants_gradient(a, b, bias))[0]


def run_scaled_matmul(a, b, scale_a, scale_b, bias, out_dtype):
    return scaled_matmul(a, b, scale_a, scale_b, bias, out_dtype)


def fake_scaled_matmul(a, b, scale_a, scale_b, bias, out_dtype):
    check_scaled_arguments(a, b, scale_a, scale_b, bias, out_dtype)
    return a.new_empty(a.shape[0], b.shape[1], dtype=out_dtype)


scaled_matmul_operator = operator(
    "scaled_matmul(Tensor a, Tensor b, Tensor scale_a, Tensor scale_b, Tensor? bias, ScalarType out_dtype) -> Tensor",
    run_scaled_matmul,
    fake_scaled_matmul,
    tags=CUDAGRAPH_UNSAFE,
)


def scaled_matmul_in_graph(a, b, scale_a, scale_b, bias=None, out_dtype=torch.bfloat16):
    bias = bias if bias is None else bias.detach()
    return scaled_matmul_operator(a, b, scale_a.detach(), scale_b.detach(), bias, out_dtype)


def in_rows(x):
    """The rows as those of one matrix, also where they hold nothing."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def run_layer_norm_linear(x, ln_weight, ln_bias, weight, bias, eps, statistics):
    check_layer_norm_linear_arguments(x, ln_weight, ln_bias, weight, bias, eps)
    normal, mean, rstd = norm_forward(x, ln_weight, ln_bias, eps, True, statistics)
    y = matmul_forward(in_rows(normal), weight.mT, bias, None, False)[0]
    kept = (normal, mean, rstd) if statistics else (x.new_empty(0), *(x.new_empty(0, dtype=torch.float32) for _ in range(2)))
    return y.view(*x.shape[:-1], weight.shape[0]), *kept


def fake_layer_norm_linear(x, ln_weight, ln_bias, weight, bias, eps, statistics):
    check_layer_norm_linear_arguments(x, ln_weight, ln_bias, weight, bias, eps)
    rows = math.prod(x.shape[:-1]) if statistics else 0
    normal = torch.empty_like(x, memory_format=torch.contiguous_format) if statistics else x.new_empty(0)
    mean, rstd = (x.new_empty(rows, dtype=torch.float32) for _ in range(2))
    return x.new_empty(*x.shape[:-1], weight.shape[0]), normal, mean, rstd


def keep_layer_norm_linear(ctx, inputs, output) -> None:
    x, ln_weight, ln_bias, weight, bias, ctx.eps, ctx.statistics = inputs
    ctx.dtypes = [None if part is None else part.dtype for part in (ln_weight, ln_bias, bias)]
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(x, ln_weight, ln_bias, weight, *output[1:])


def backward_layer_norm_linear(ctx, dy, *_):
    x, ln_weight, ln_bias, weight, normal, mean, rstd = ctx.saved_tensors
    if not ctx.statistics:
        arguments = (x, ln_weight, ln_bias, weight, None, ctx.eps, True)
        _, normal, mean, rstd = layer_norm_linear_operator(*arguments)
    needed = ctx.needs_input_grad
    dz = in_rows(dy)
    dx = dln_weight = dln_bias = dweight = None
    if any(needed[:3]):
        dnormal = matmul_operator(dz, weight, None, None, False, False)[0].view(x.shape)
        dtypes = (ctx.dtypes[0] if needed[1] else None, ctx.dtypes[1] if needed[2] else None)
        dx, *rest = norm_backward_operator(x, ln_weight, dnormal, mean, rstd, *dtypes)
        dln_weight, dln_bias = (None if dtype is None else part for part, dtype in zip(rest, dtypes, strict=True))
    if needed[3]:
        dweight = matmul_operator(in_rows(normal).mT, dz, None, None, False, False)[0].mT
    dbias = dz.sum(0, dtype=torch.float32).to(ctx.dtypes[2]) if needed[4] else None
    return dx, dln_weight, dln_bias, dweight, dbias, None, None


layer_norm_linear_operator = operator(
    "layer_norm_linear(Tensor x, Tensor? ln_weight, Tensor? ln_bias, Tensor weight, Tensor? bias, float eps, "
    "bool statistics) -> (Tensor, Tensor, Tensor, Tensor)",
    run_layer_norm_linear,
    fake_layer_norm_linear,
    backward_layer_norm_linear,
    keep_layer_norm_linear,
    CUDAGRAPH_UNSAFE,
)


def layer_norm_linear_in_graph(x, ln_weight, ln_bias, weight, bias=None, eps=1e-5):
    statistics = wants_gradient(x, ln_weight, ln_bias, weight, bias)
    return layer_norm_linear_operator(x, ln_weight, ln_bias, weight, bias, eps, statistics)[0]
