"""Cross-entropy of a linear layer's outputs, chunk by chunk, so that the logits of a batch are never all in memory.

    logits = x weight^T + bias,    loss = cross_entropy(logits, target)

The head of a language model has a hundred thousand classes, so its logits and their gradient are the largest tensors of a
training step. Here a few hundred rows of logits are computed at a time, turned into their gradient where they lie, and multiplied
into the gradients of `x` and `weight` before the next rows take their place. For N rows of H numbers, C classes and
e bytes a number, a chunk of R rows takes RCe bytes instead of NCe; the gradients take (NH + CH)e, as they always do.

The gradients are found in the forward pass, as if the incoming gradient were going to be one, and handed over in the backward
pass. The other way is to keep nothing and compute the logits once more in the backward pass: one product of four more, while
the gradients' memory is taken later. Of the two the products cost more: the weight's gradient is there at the end of the
backward pass anyway.
"""

import torch

from kernels.common.arguments import check_float_tensor, check_same_device, on_device_of
from kernels.cross_entropy.cross_entropy import check_cross_entropy
from kernels.linear_cross_entropy.chunks import (
    linear_cross_entropy_chunk,
    linear_cross_entropy_pass,
    linear_cross_entropy_scale,
)

NO_SECOND_DERIVATIVE = (
    "linear_cross_entropy: expected to be differentiated once, got create_graph=True; "
    "kernels.cross_entropy of a linear layer's outputs can be differentiated any number of times"
)


def reduced_losses(losses: torch.Tensor, count: torch.Tensor | None, reduction: str, dtype: torch.dtype) -> torch.Tensor:
    """What is handed out of the losses of the rows."""
    if reduction == "none":
        return losses.to(dtype)
    total = losses.sum()
    return (total if count is None else total / count).to(dtype)


def counted_targets(target: torch.Tensor, ignore_index: int, reduction: str) -> torch.Tensor | None:
    """How many rows a mean is over, left on the device; None for the others."""
    return (target != ignore_index).sum() if reduction == "mean" else None


def linear_cross_entropy_forward(x, weight, target, bias, options, wanted=(False, False, False)):
    """The loss, and gradients for an incoming one of one; float16's still have to be divided by the rows that count.

    In float16 a gradient of a mean over thousands of rows would round to zero before a loss scaler could save it.
    """
    ignore_index, reduction, smoothing, chunk, dtype = options
    count = counted_targets(target, ignore_index, reduction)
    if reduction == "none":
        wanted = (False, False, False)  # nobody knows the rows' scales yet
    divisor = None if x.dtype == torch.float16 else count
    losses, *gradients = linear_cross_entropy_pass(
        x, weight, target, bias, (ignore_index, smoothing, chunk), wanted, count=divisor
    )
    return reduced_losses(losses, count, reduction, dtype), gradients, count


def linear_cross_entropy_backward(x, weight, target, bias, dloss, options, wanted) -> list:
    """The gradients for an incoming one, from the start: every chunk's logits are computed again."""
    ignore_index, reduction, smoothing, chunk, _ = options
    count = counted_targets(target, ignore_index, reduction)
    given = dloss.resolve_neg().reshape(-1).expand(target.shape[0])
    chunks = (ignore_index, smoothing, chunk)
    return list(linear_cross_entropy_pass(x, weight, target, bias, chunks, wanted, given, count, with_loss=False)[1:])


class LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, target, bias, options):
        ctx.options = options
        needed = ctx.needs_input_grad
        wanted = (needed[0], needed[1], needed[3])
        loss, ctx.gradients, ctx.count = linear_cross_entropy_forward(x, weight, target, bias, options, wanted)
        ctx.save_for_backward(x, weight, target, bias)
        return loss

    @staticmethod
    def backward(ctx, dloss):
        if torch.is_grad_enabled():
            raise NotImplementedError(NO_SECOND_DERIVATIVE)
        x, weight, target, bias = ctx.saved_tensors
        needed = ctx.needs_input_grad
        # Handed over once: whoever asks again must not find what the first may have changed.
        gradients, ctx.gradients = ctx.gradients, None
        if gradients is None or ctx.options[1] == "none":
            wanted = (needed[0], needed[1], needed[3])
            dx, dweight, dbias = linear_cross_entropy_backward(x, weight, target, bias, dloss, ctx.options, wanted)
            return dx, dweight, None, dbias, None
        count = ctx.count if x.dtype == torch.float16 else None
        with on_device_of(x):
            for gradient in gradients:
                if gradient is not None:
                    linear_cross_entropy_scale(gradient, dloss.resolve_neg(), count)
        return gradients[0], gradients[1], None, gradients[2], None


def in_autocast_dtype(x, weight, bias) -> tuple:
    """The tensors as a linear layer under autocast would take them, and the dtype that cross-entropy gives then."""
    if not torch.is_autocast_enabled(x.device.type):
        return x, weight, bias, x.dtype
    dtype = torch.get_autocast_dtype(x.device.type)
    return x.to(dtype), weight.to(dtype), None if bias is None else bias.to(dtype), torch.float32


def check_classes_of_rows(x, n_classes: int, target, ignore_index, reduction) -> None:
    """Raise unless `target` holds one of `n_classes` classes for every row of `x`."""
    if isinstance(target, torch.Tensor) and target.shape != x.shape[:-1]:
        raise ValueError(f"target: expected shape {tuple(x.shape[:-1])} for x of {tuple(x.shape)}, got {tuple(target.shape)}")
    # What is asked of targets is asked of them as if the logits were there: one number, seen as all of them.
    classes = target.reshape(-1) if isinstance(target, torch.Tensor) else target
    logits = x.new_empty(1).expand(classes.shape[0] if isinstance(target, torch.Tensor) else 0, n_classes)
    check_cross_entropy(logits, classes, ignore_index, reduction)

def check_linear_head(x, weight, bias, label_smoothing, chunk_rows) -> None:
    """Raise unless these are the inputs of a linear layer with classes for outputs, and options of its loss."""
    for name, tensor in (("x", x), ("weight", weight), ("bias", bias)):
        if tensor is None and name == "bias":
            continue
        check_float_tensor(name, tensor)
        check_same_device(name, tensor, "x", x)
        if tensor.dtype != x.dtype and not torch.is_autocast_enabled(x.device.type):
            expected, found = (str(dtype).removeprefix("torch.") for dtype in (x.dtype, tensor.dtype))
            raise TypeError(f"{name}: expected dtype {expected}, the dtype of x, got {found}")
    if x.ndim == 0:
        raise ValueError("x: expected shape [..., H], got ()")
    if weight.ndim != 2 or weight.shape[1] != x.shape[-1]:
        raise ValueError(f"weight: expected shape [C, {x.shape[-1]}] for x of {tuple(x.shape)}, got {tuple(weight.shape)}")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"bias: expected shape {tuple(weight.shape[:1])}, the classes of weight, got {tuple(bias.shape)}")
    if weight.shape[0] == 0:
        raise ValueError(f"weight: expected at least one class, got shape {tuple(weight.shape)}")
    if not isinstance(label_smoothing, (int, float)) or isinstance(label_smoothing, bool):
        raise TypeError(f"label_smoothing: expected a float, got {type(label_smoothing).__name__}")
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing: expected a number from 0 to 1, got {label_smoothing}")
    if chunk_rows is not None and (not isinstance(chunk_rows, int) or isinstance(chunk_rows, bool)):
        raise TypeError(f"chunk_rows: expected an int or None, got {type(chunk_rows).__name__}")
    if chunk_rows is not None and chunk_rows < 1:
        raise ValueError(f"chunk_rows: expected at least 1, got {chunk_rows}")


def linear_cross_entropy(
    x: torch.Tensor,
    weight: torch.Tensor,
    target: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    chunk_rows: int | None = None,
) -> torch.Tensor:
    """Compare a linear layer's outputs with the classes that were wanted, without ever holding all outputs in memory.

    For `x` of two dimensions the result is that of
    `torch.nn.functional.cross_entropy(torch.nn.functional.linear(x, weight, bias), target)`. Of more dimensions, all but the last
    are made one first; PyTorch would look for the classes in the second.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x, weight = torch.eye(3, device=device), 4 * torch.eye(3, device=device)
        target = torch.tensor([0, 1, -100], device=device)  # the last row counts for nothing
        print(kernels.linear_cross_entropy(x, weight, target).cpu())
        #> tensor(0.0360)
        ```

    Args:
        x: What goes into the layer, of shape [..., H]; float32, float16 or bfloat16.
        weight: The layer's weight, of shape [C, H] and the dtype of `x`: a row for each class. Under autocast, any of the
            three dtypes.
        target: The wanted class of each row of `x`: int64, of the shape of `x` without the last dimension.
        bias: What is added to each class's output, of shape [C] and the dtype of `x`, or None.
        ignore_index: Rows with this target count for nothing.
        reduction: `mean` over the rows that count (NaN if none does), `sum`, or `none` for the loss of each row.
        label_smoothing: How much of every target goes to all classes alike, from 0 to 1.
        chunk_rows: How many rows of logits to hold at a time. None takes an eighth of H, and 512 at least.

    Returns:
        A tensor of the dtype of `x`, of float32 under autocast: a number, or for `none` a tensor of the shape of `target`.
            The logits are rounded to the dtype of `x`, as a linear layer's outputs are; the rest of the arithmetic is
            in float32.

    Raises:
        TypeError: An argument is not a tensor or has another dtype, or an option is of another type.
        ValueError: The shapes do not match, there are no classes, the devices differ, an option is out of its range, or a
            CPU tensor came while Triton's interpreter is off. On the CPU also where a target is out of range; on a GPU,
            the loss and the gradients are NaN then.
        NotImplementedError: A gradient was asked for with `create_graph=True`.

    Differentiable once, in `x`, `weight` and `bias`. For `mean` and `sum` the gradients are found in the forward pass, as if
    the incoming gradient will be one, and take their memory from then on; where it turns out otherwise (the loss was
    scaled), they are multiplied by it in place. For `none`, and where the gradients are asked for a second time, each
    chunk's logits are computed once more. The sum over a chunk's rows that makes `weight`'s gradient is in float32; from
    chunk to chunk it is kept in the dtype of `weight`, because a sum in float32 would take twice the memory of the
    gradient itself.

    Bytes:
        For N rows of x, C classes, chunks of R rows and e bytes a number, memory of RCe beyond the gradients, where the
        logits take NCe. Of the logits NCe is written by the products, 2NCe read and NCe written by the kernel, and 2NCe read
        by the products of the gradients. The weight is read twice a chunk, and its gradient read and written once.

    Flops:
        2NHC forward, 6NHC with the gradients.

    Source:
        E. Wijmans and others, "Cut Your Losses in Large-Vocabulary Language Models", 2024 (arXiv:2411.09009), for the
        question; P.-L. Hsu and others, "Liger Kernel: Efficient Triton Kernels for LLM Training", 2024 (arXiv:2410.10989),
        for chunks of rows whose gradient is written over them.
    """
    check_linear_head(x, weight, bias, label_smoothing, chunk_rows)
    check_classes_of_rows(x, weight.shape[0], target, ignore_index, reduction)
    x, weight, bias, dtype = in_autocast_dtype(x, weight, bias)
    rows, classes = x.reshape(target.numel(), x.shape[-1]), target.reshape(-1)
    chunk = chunk_rows or linear_cross_entropy_chunk(rows.shape[1])
    options = (ignore_index, reduction, float(label_smoothing), chunk, dtype)
    if classes.numel() == 0:
        none = rows.sum(1).to(dtype)  # no launch, and still a part of the graph
        loss = none if reduction == "none" else none.sum() if reduction == "sum" else none.mean()
    elif torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in (x, weight, bias)):
        loss = LinearCrossEntropy.apply(rows, weight, classes.contiguous(), bias, options)
    else:
        loss = linear_cross_entropy_forward(rows, weight, classes.contiguous(), bias, options)[0]
    return loss.view(target.shape) if reduction == "none" else loss


def linear_cross_entropy_reference(
    x: torch.Tensor,
    weight: torch.Tensor,
    target: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    chunk_rows: int | None = None,
) -> torch.Tensor:
    """The same operation in plain PyTorch, with all logits in memory; `chunk_rows` changes nothing."""
    logits = torch.nn.functional.linear(x, weight, bias)
    rows, classes = logits.reshape(-1, weight.shape[0]), target.reshape(-1)
    loss = torch.nn.functional.cross_entropy(
        rows, classes, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )
    return loss.view(target.shape) if reduction == "none" else loss
