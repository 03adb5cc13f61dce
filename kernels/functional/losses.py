"""Cross-entropy under PyTorch's name, with weights of classes and smoothing."""

import torch

from kernels.common.arguments import check_float_tensor
from kernels.cross_entropy.cross_entropy import (
    CrossEntropy,
    check_cross_entropy,
    cross_entropy_forward,
    cross_entropy_gradient_reference,
)
from kernels.functional.batching import batched, in_front
from kernels.functional.forms import FLOAT32, check_tensors, form, in_autocast, refuse
from kernels.functional.transforms import is_transformed, through_reference
from kernels.operators.cross_entropy import (
    cross_entropy_backward_operator,
    cross_entropy_operator,
    cross_entropy_rows,
    nothing_lost,
)
from kernels.operators.register import wants_gradient


def rows_of_calls(info, dims, logits, target):
    """Logits and targets of all calls as rows, and how many there are in one call."""
    logits, target = in_front(info, logits, dims[0]), in_front(info, target, dims[1])
    rows = logits if logits.ndim == 2 else logits.movedim(2, -1) if logits.ndim > 3 else logits
    return rows.reshape(-1, rows.shape[-1]), target.reshape(info.batch_size, -1).contiguous(), logits


def map_cross_entropy(info, dims, logits, target, ignore_index, reduction):
    rows, classes, _ = rows_of_calls(info, dims, logits, target)
    loss = cross_entropy_operator(rows, classes.reshape(-1), ignore_index, "none").view(classes.shape)
    if reduction == "none":
        shape = target.shape if dims[1] is None else target.movedim(dims[1], 0).shape[1:]
        return loss.view(info.batch_size, *shape), 0
    total = loss.sum(1, dtype=torch.float32)
    if reduction == "mean":
        total = total / (classes != ignore_index).sum(1)
    return total.to(loss.dtype), 0


def map_cross_entropy_backward(info, dims, logits, target, dloss, ignore_index, reduction):
    rows, classes, front = rows_of_calls(info, dims, logits, target)
    slope = in_front(info, dloss, dims[2]).reshape(info.batch_size, -1).float()
    if reduction == "mean":
        slope = slope / (classes != ignore_index).sum(1, keepdim=True)
    slope = slope.expand(classes.shape).contiguous().view(-1)
    dlogits = cross_entropy_backward_operator(rows, classes.reshape(-1), slope, ignore_index, "none")
    if front.ndim <= 3:
        return dlogits.reshape(front.shape), 0
    return dlogits.reshape(front.movedim(2, -1).shape).movedim(-1, 2), 0


cross_entropy_batched = batched(cross_entropy_operator, map_cross_entropy)
cross_entropy_backward_batched = batched(cross_entropy_backward_operator, map_cross_entropy_backward)


class CrossEntropyTransformed(torch.autograd.Function):
    """The loss of rows, [N, C]."""

    generate_vmap_rule = True

    @staticmethod
    def forward(logits, target, ignore_index, reduction):
        return cross_entropy_batched(logits, target, ignore_index, reduction)

    @staticmethod
    def setup_context(ctx, inputs, output):
        logits, target, *ctx.options = inputs
        ctx.save_for_backward(logits, target)

    @staticmethod
    def backward(ctx, dloss):
        return CrossEntropySlope.apply(*ctx.saved_tensors, dloss, *ctx.options), None, None, None


class CrossEntropySlope(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(logits, target, dloss, ignore_index, reduction):
        return cross_entropy_backward_batched(logits, target, dloss, ignore_index, reduction)

    @staticmethod
    def setup_context(ctx, inputs, output):
        logits, target, dloss, *ctx.options = inputs
        ctx.save_for_backward(logits, target, dloss)

    @staticmethod
    def backward(ctx, ddlogits):
        logits, target, dloss = ctx.saved_tensors

        def reference(logits, dloss):
            return cross_entropy_gradient_reference(logits, target, dloss, *ctx.options)

        dlogits, ddloss = through_reference(reference, (logits, dloss), ddlogits)
        return dlogits, None, ddloss, None, None


def loss_of_rows(rows: torch.Tensor, classes: torch.Tensor, ignore_index: int, reduction: str) -> torch.Tensor:
    """The loss of logits [N, C] that were checked."""
    if rows.shape[0] == 0:
        return nothing_lost(rows, classes, reduction)
    options = (ignore_index, reduction)
    if is_transformed(rows, classes):
        return CrossEntropyTransformed.apply(rows, classes, *options)
    if torch.compiler.is_compiling():
        return cross_entropy_operator(rows, classes, *options)
    if wants_gradient(rows):
        return CrossEntropy.apply(rows, classes, options)
    return cross_entropy_forward(rows, classes, options)[0]


def weighed_loss(rows, classes, weight, ignore_index: int, reduction: str, smoothing: float) -> torch.Tensor:
    """The loss with weights of classes, smoothed: each row's from the kernel, and what comes to it from PyTorch."""
    counts = classes != ignore_index
    named = classes.where(counts, 0)
    loss = loss_of_rows(rows, classes, ignore_index, "none").float()
    shares = counts.float() if weight is None else weight.float()[named].where(counts, 0.0)
    found = loss * shares
    if smoothing:
        # With l the logarithm of a row's sum of exp(x), sum_c w[c] (l - x[c]) = sum_c w[c] l - sum_c w[c] x[c].
        logits = rows.float()
        picked = logits.gather(1, named[:, None])[:, 0]
        if weight is None:
            spread = loss + picked - logits.mean(1)
        else:
            spread = ((loss + picked) * weight.float().sum() - logits @ weight.float()) / rows.shape[1]
        found = (1 - smoothing) * found + smoothing * spread.where(counts, 0.0)
    if reduction == "mean":
        found = found.sum() / shares.sum()
    return (found.sum() if reduction == "sum" else found).to(rows.dtype)


@form(
    "torch.nn.functional.cross_entropy",
    composed="`weight` and `label_smoothing`: the loss of each row comes from the kernel, the rest from PyTorch's operations, "
    "which read the logits again where there is smoothing.",
    refused="probabilities as `target`; `size_average` and `reduce`, which PyTorch has replaced by `reduction`",
    cuda=FLOAT32,
    cpu=FLOAT32,
)
def cross_entropy(
    input: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> torch.Tensor:
    """`torch.nn.functional.cross_entropy`, computed by `kernels.cross_entropy`.

    Args:
        input: Logits of shape [C], [N, C] or [N, C, ...].
        target: The wanted classes, int64.
        weight: What the loss of a row is multiplied by, for each class; of shape [C].
        ignore_index: Rows with this target count for nothing.
        reduction: `mean`, `sum` or `none`. With `weight` the mean is a weighed one.
        label_smoothing: How much of every target goes to all classes alike, from 0 to 1.

    Raises:
        NotImplementedError: `target` holds probabilities, or `size_average` or `reduce` was given.

    Examples:
        >>> import kernels.functional as F
        >>> F.cross_entropy(torch.zeros(3, 4), torch.tensor([0, 1, 2]), label_smoothing=0.1)
        tensor(1.3863)
    """
    check_tensors("weight", input=input, target=target, weight=weight)
    if size_average is not None or reduce is not None:
        refuse("cross_entropy", "size_average or reduce")
    if target.is_floating_point():
        refuse("cross_entropy", "target as probabilities")
    options = {"ignore_index": ignore_index, "reduction": reduction, "label_smoothing": label_smoothing}
    if input.is_meta:
        return torch.nn.functional.cross_entropy(input, target, weight, **options)  # type: ignore[arg-type]
    if not isinstance(label_smoothing, (int, float)) or isinstance(label_smoothing, bool):
        raise TypeError(f"label_smoothing: expected a float, got {type(label_smoothing).__name__}")
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing: expected a number from 0 to 1, got {label_smoothing}")
    logits, weight = in_autocast("cross_entropy", input, weight)
    check_float_tensor("input", logits)
    watched = is_transformed(logits, target, weight) or torch.compiler.is_compiling()
    # Without numbers there are no classes to look at, so the check is made where it does not try.
    given = (logits.to("meta"), target.to("meta")) if watched else (logits, target)
    check_cross_entropy(*given, ignore_index, reduction)
    rows, classes = cross_entropy_rows(logits, target)
    if weight is not None and tuple(weight.shape) != (rows.shape[1],):
        raise ValueError(f"weight: expected shape {(rows.shape[1],)}, a number for each class, got {tuple(weight.shape)}")
    if weight is None and not label_smoothing:
        loss = loss_of_rows(rows, classes, ignore_index, reduction)
    else:
        loss = weighed_loss(rows, classes, weight, ignore_index, reduction, label_smoothing)
    return loss.view(target.shape) if reduction == "none" else loss
