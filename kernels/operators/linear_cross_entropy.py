"""The operators of `linear_cross_entropy`.

The first finds the loss and, where they will be wanted, the gradients for an incoming one. An operator changes nothing that
it has given out, so the backward pass multiplies them out of place, which the compiler does in one kernel with what follows.
"""

import torch

from kernels.common.arguments import check_same_device
from kernels.linear_cross_entropy.chunks import linear_cross_entropy_chunk
from kernels.linear_cross_entropy.linear_cross_entropy import (
    check_classes_of_rows,
    check_linear_head,
    in_autocast_dtype,
    linear_cross_entropy_backward,
    linear_cross_entropy_forward,
)
from kernels.operators.register import operator, wants_gradient

ARGUMENTS = "Tensor x, Tensor weight, Tensor target, Tensor? bias"
OPTIONS = "int ignore_index, str reduction, float smoothing, int chunk, ScalarType dtype"


def filled(gradients: list, x: torch.Tensor) -> tuple:
    """The gradients, with a tensor of nothing where there is none."""
    return tuple(x.new_empty(0) if gradient is None else gradient for gradient in gradients)


def run_linear_cross_entropy(x, weight, target, bias, ignore_index, reduction, smoothing, chunk, dtype, wanted):
    check_linear_head(x, weight, bias, smoothing, chunk)
    check_classes_of_rows(x, weight.shape[0], target, ignore_index, reduction)
    options = (ignore_index, reduction, smoothing, chunk, dtype)
    loss, gradients, _ = linear_cross_entropy_forward(x, weight, target, bias, options, tuple(wanted))
    return loss, *filled(gradients, x)


def fake_gradients(x, weight, bias, wanted) -> tuple:
    given = (x, weight, bias)
    gradients = [
        torch.empty_like(tensor, memory_format=torch.contiguous_format) if want else None
        for tensor, want in zip(given, wanted, strict=True)
    ]
    return filled(gradients, x)


def fake_linear_cross_entropy(x, weight, target, bias, ignore_index, reduction, smoothing, chunk, dtype, wanted):
    check_linear_head(x, weight, bias, smoothing, chunk)
    check_same_device("target", target, "x", x)
    # Without numbers there are no classes to look at, so the check is made where it does not try.
    check_classes_of_rows(x.to("meta"), weight.shape[0], target.to("meta"), ignore_index, reduction)
    wanted = [False] * 3 if reduction == "none" else wanted
    loss = x.new_empty(target.shape if reduction == "none" else (), dtype=dtype)
    return loss, *fake_gradients(x, weight, bias, wanted)


def run_linear_cross_entropy_backward(
    x, weight, target, bias, dloss, ignore_index, reduction, smoothing, chunk, dtype, wanted
):
    options = (ignore_index, reduction, smoothing, chunk, dtype)
    return filled(linear_cross_entropy_backward(x, weight, target, bias, dloss, options, tuple(wanted)), x)


def fake_linear_cross_entropy_backward(
    x, weight, target, bias, dloss, ignore_index, reduction, smoothing, chunk, dtype, wanted
):
    return fake_gradients(x, weight, bias, wanted)


linear_cross_entropy_backward_operator = operator(
    f"linear_cross_entropy_backward({ARGUMENTS}, Tensor dloss, {OPTIONS}, bool[] wanted) -> (Tensor, Tensor, Tensor)",
    run_linear_cross_entropy_backward,
    fake_linear_cross_entropy_backward,
)


def keep_linear_cross_entropy(ctx, inputs, output) -> None:
    x, weight, target, bias, *ctx.options, ctx.wanted = inputs
    ctx.again = ctx.options[1] == "none" or x.dtype == torch.float16 or not any(ctx.wanted)
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(x, weight, target, bias, *(() if ctx.again else output[1:]))


def backward_linear_cross_entropy(ctx, dloss, *_):
    x, weight, target, bias, *gradients = ctx.saved_tensors
    needed = ctx.needs_input_grad
    wanted = [needed[0], needed[1], needed[3]]
    if ctx.again:
        gradients = linear_cross_entropy_backward_operator(x, weight, target, bias, dloss, *ctx.options, wanted)
    else:
        gradients = [(gradient * dloss).to(gradient.dtype) for gradient in gradients]
    dx, dweight, dbias = (gradient if want else None for gradient, want in zip(gradients, wanted, strict=True))
    return dx, dweight, None, dbias, *[None] * 6


linear_cross_entropy_operator = operator(
    f"linear_cross_entropy({ARGUMENTS}, {OPTIONS}, bool[] wanted) -> (Tensor, Tensor, Tensor, Tensor)",
    run_linear_cross_entropy,
    fake_linear_cross_entropy,
    backward_linear_cross_entropy,
    keep_linear_cross_entropy,
)


def linear_cross_entropy_in_graph(
    x, weight, target, bias=None, *, ignore_index=-100, reduction="mean", label_smoothing=0.0, chunk_rows=None
):
    dtype = x.dtype
    if not x.is_meta:  # a device that autocast does not know
        x, weight, bias, dtype = in_autocast_dtype(x, weight, bias)
    rows, classes = x.reshape(target.numel(), x.shape[-1]), target.reshape(-1).contiguous()
    chunk = chunk_rows or linear_cross_entropy_chunk(rows.shape[1])
    # float16's gradients are found in the backward pass, where the scale of the loss is known.
    early = reduction != "none" and x.dtype != torch.float16
    wanted = [early and tensor is not None and wants_gradient(tensor) for tensor in (x, weight, bias)]
    options = (ignore_index, reduction, float(label_smoothing), chunk, dtype)
    loss = linear_cross_entropy_operator(rows, weight, classes, bias, *options, wanted)[0]
    return loss.view(target.shape) if reduction == "none" else loss
