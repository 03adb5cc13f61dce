"""The operators of `cross_entropy`.

Called eagerly, the function writes the gradient together with the loss and changes it later where it has to. An operator changes
nothing that it has given out, so here the gradient is found in the backward pass: the logits are read once more.
"""

import torch

from kernels.common.arguments import check_float_tensor, check_same_device, on_device_of
from kernels.cross_entropy.cross_entropy import check_cross_entropy, cross_entropy_forward, cross_entropy_room
from kernels.cross_entropy.launch import cross_entropy_launch
from kernels.cross_entropy.total import cross_entropy_count
from kernels.operators.register import CUDAGRAPH_UNSAFE, operator


def cross_entropy_rows(logits, target):
    """Logits and targets of any shape as the kernels take them: [N, C] and [N]."""
    rows, classes = logits, target
    if logits.ndim != 2:
        rows = logits[None] if logits.ndim == 1 else logits.movedim(1, -1).reshape(-1, logits.shape[1])
        classes = target.reshape(-1)
    rows = rows if rows.stride(1) == 1 else rows.contiguous()
    return rows.resolve_neg(), classes.contiguous()


def nothing_lost(rows, target, reduction):
    """The loss of no rows."""
    none = rows.sum(1)
    return none.view(target.shape) if reduction == "none" else none.sum() if reduction == "sum" else none.mean()


def run_cross_entropy(logits, target, ignore_index, reduction):
    check_float_tensor("logits", logits)
    check_cross_entropy(logits, target, ignore_index, reduction)
    rows, classes = cross_entropy_rows(logits, target)
    if rows.shape[0] == 0:
        return nothing_lost(rows, target, reduction)
    loss = cross_entropy_forward(rows, classes, (ignore_index, reduction))[0]
    return loss.view(target.shape) if reduction == "none" else loss


def fake_cross_entropy(logits, target, ignore_index, reduction):
    check_float_tensor("logits", logits)
    if isinstance(target, torch.Tensor):
        check_same_device("target", target, "logits", logits)
    # Without numbers there are no classes to look at, so the check is made where it does not try.
    check_cross_entropy(logits.to("meta"), target.to("meta"), ignore_index, reduction)
    return logits.new_empty(target.shape if reduction == "none" else ())


def in_shape_of(logits, dlogits):
    """Rows of a gradient in the shape of the logits."""
    if logits.ndim == 2:
        return dlogits
    return dlogits[0] if logits.ndim == 1 else dlogits.reshape(logits.movedim(1, -1).shape).movedim(-1, 1)


def run_cross_entropy_backward(logits, target, dloss, ignore_index, reduction):
    rows, classes = cross_entropy_rows(logits, target)
    dlogits = cross_entropy_room(rows)
    if rows.shape[0]:
        dloss = dloss.resolve_neg().reshape(-1) if reduction == "none" else dloss.resolve_neg()
        with on_device_of(rows):
            counts = cross_entropy_count(classes, ignore_index)
            cross_entropy_launch(rows, classes, (ignore_index, reduction), counts, None, dlogits, dloss)
    return in_shape_of(logits, dlogits)


def fake_cross_entropy_backward(logits, target, dloss, ignore_index, reduction):
    return in_shape_of(logits, cross_entropy_room(cross_entropy_rows(logits, target)[0]))


cross_entropy_backward_operator = operator(
    "cross_entropy_backward(Tensor logits, Tensor target, Tensor dloss, int ignore_index, str reduction) -> Tensor",
    run_cross_entropy_backward,
    fake_cross_entropy_backward,
)


def keep_cross_entropy(ctx, inputs, output) -> None:
    logits, target, *ctx.options = inputs
    ctx.save_for_backward(logits, target)


def backward_cross_entropy(ctx, dloss):
    return cross_entropy_backward_operator(*ctx.saved_tensors, dloss, *ctx.options), None, None, None


cross_entropy_operator = operator(
    "cross_entropy(Tensor logits, Tensor target, int ignore_index, str reduction) -> Tensor",
    run_cross_entropy,
    fake_cross_entropy,
    backward_cross_entropy,
    keep_cross_entropy,
    CUDAGRAPH_UNSAFE,
)


def cross_entropy_in_graph(logits, target, ignore_index=-100, reduction="mean"):
    return cross_entropy_operator(logits, target, ignore_index, reduction)
