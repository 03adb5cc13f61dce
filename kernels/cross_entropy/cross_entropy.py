"""Cross-entropy of logits against class indices, the loss of a language model.

    loss = log(sum_j exp(x[j])) - x[t],    dx[i] = (exp(x[i]) / sum_j exp(x[j]) - [i = t]) * dloss

for a row x of logits whose target is class t. No probabilities are stored. Where a gradient will be wanted, the launch
that finds the losses writes the gradient too, as if `dloss` were one; the backward pass hands it over, and computes it
anew where `dloss` turns out to be something else. For n logits of e bytes that is ne read and ne written, all told.
"""

import torch

from kernels.common.arguments import check_float_tensor, check_same_device, on_device_of
from kernels.cross_entropy.launch import cross_entropy_launch
from kernels.cross_entropy.total import cross_entropy_count


def cross_entropy_forward(logits, target, options, gradient=False):
    """The loss; with `gradient`, and unless the loss is one of each row, also the gradient for an incoming one of one."""
    ignore_index, reduction = options
    n_rows = logits.shape[0]
    loss = logits.new_empty(n_rows if reduction == "none" else ())
    counts = dlogits = None
    with on_device_of(logits):
        if gradient and reduction != "none":
            counts = cross_entropy_count(target, ignore_index)
            dlogits = cross_entropy_room(logits)
        cross_entropy_launch(logits, target, options, counts, loss, dlogits)
    return loss, dlogits, counts


def cross_entropy_room(logits: torch.Tensor) -> torch.Tensor:
    """Memory for a gradient, whose rows begin at the same place of a vector as those of the logits."""
    n_rows, n_columns = logits.shape
    gap = (logits.stride(0) - n_columns) % 8
    dlogits = logits.new_empty(n_rows, n_columns + gap)
    return dlogits[:, :n_columns] if gap else dlogits


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, options):
        loss, ctx.dlogits, ctx.counts = cross_entropy_forward(logits, target, options, gradient=True)
        ctx.options = options
        ctx.save_for_backward(logits, target)
        return loss

    @staticmethod
    def backward(ctx, dloss):
        logits, target = ctx.saved_tensors
        if torch.is_grad_enabled():
            # Somebody differentiates this gradient in turn: PyTorch's own operations know how.
            return cross_entropy_gradient_reference(logits, target, dloss, *ctx.options), None, None
        # Handed over once: whoever asks again must not find what the first may have changed.
        dlogits, ctx.dlogits = ctx.dlogits, None
        ready = dlogits is not None
        if not ready:
            dlogits = cross_entropy_room(logits)
        with on_device_of(logits):
            cross_entropy_launch(logits, target, ctx.options, ctx.counts, None, dlogits, dloss.resolve_neg(), ready)
        return dlogits, None, None


def cross_entropy_gradient_reference(logits, target, dloss, ignore_index, reduction):
    """The gradient in PyTorch's operations, through which gradients of gradients flow."""
    counts = target != ignore_index
    valid = counts & (target >= 0) & (target < logits.shape[1])
    one_hot = torch.zeros_like(logits, dtype=torch.float32).scatter_(1, target.where(valid, 0)[:, None], 1.0)
    # Rows that do not count are emptied first: a zero times their NaN would be NaN.
    difference = torch.softmax(logits.float().where(counts[:, None], 0.0), 1) - one_hot
    scale = dloss.float() / counts.sum() if reduction == "mean" else dloss.float()
    scale = scale.expand(target.shape).where(counts, 0.0).where(valid | ~counts, float("nan"))
    return (difference * scale[:, None]).to(logits.dtype)


def cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, ignore_index: int = -100, reduction: str = "mean"
) -> torch.Tensor:
    """Compare logits with the classes that were wanted, as `torch.nn.functional.cross_entropy` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        logits = torch.tensor([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0]], device=device)
        loss = kernels.cross_entropy(logits.requires_grad_(), torch.tensor([0, 1], device=device))
        loss.backward()
        print(f"{loss.item():.4f}", logits.grad[0].cpu())
        #> 0.1672 tensor([-0.1065,  0.0533,  0.0533])
        ```

    Args:
        logits: A tensor of shape [N, C], with any strides; float32, float16 or bfloat16. Shapes [C] and [N, C, ...]
            are taken as in PyTorch: the classes lie along the second dimension, or along the only one.
        target: The wanted class of each row: int64, of the shape of `logits` without the classes.
        ignore_index: Rows with this target count for nothing. Their loss and gradient are zero, whatever they hold.
        reduction: `mean` over the rows that count (NaN if none does), `sum`, or `none` for the loss of each row.

    Returns:
        A tensor of the dtype of `logits`: a number, or for `none` a tensor of the shape of `target`. The arithmetic
            is in float32 and rounded once. NaN and infinities in rows that count give what they give in PyTorch.

    Raises:
        TypeError: `logits` or `target` is not a tensor or has another dtype, or `ignore_index` is not an int.
        ValueError: The shapes do not match, there are no classes, the devices differ, `reduction` is none of the
            three, or a CPU tensor came while Triton's interpreter is off. On the CPU also where a target is out of
            range. On a GPU the host could not know that without waiting: there, the row's loss and gradient are NaN.

    Differentiable in `logits`, any number of times: the first gradient is a kernel, gradients of gradients are PyTorch
    operations. For `mean` and `sum` the gradient is written in the forward pass, as if the incoming gradient were going to be
    one, and takes its memory from then on. Where it turns out otherwise (the loss was scaled), it is computed anew.

    Bytes:
        For n logits of e bytes, ne read and, where a gradient is wanted, ne written, in both passes together. Rows
        beyond the on-chip limit are read twice for a gradient, the second time from the caches as far as they reach.

    Flops:
        About 4 for each logit, and 3 more for its gradient.

    Source:
        M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", 2018 (arXiv:1805.02867), for the
        long rows; P.-L. Hsu and others, "Liger Kernel: Efficient Triton Kernels for LLM Training", 2024
        (arXiv:2410.10989), for the gradient in the forward pass.
    """
    check_float_tensor("logits", logits)
    check_cross_entropy(logits, target, ignore_index, reduction)
    rows, classes = logits, target
    if logits.ndim != 2:
        rows = logits[None] if logits.ndim == 1 else logits.movedim(1, -1).reshape(-1, logits.shape[1])
        classes = target.reshape(-1)
    if target.numel() == 0:
        none = rows.sum(1)  # no launch, and still a part of the graph
        return none.view(target.shape) if reduction == "none" else none.sum() if reduction == "sum" else none.mean()
    if rows.stride()[1] != 1 or rows.is_neg():
        rows = rows.resolve_neg().contiguous()
    if not classes.is_contiguous():
        classes = classes.contiguous()
    if torch.is_grad_enabled() and logits.requires_grad:
        loss = CrossEntropy.apply(rows, classes, (ignore_index, reduction))
    else:
        loss = cross_entropy_forward(rows, classes, (ignore_index, reduction))[0]
    return loss.view(target.shape) if reduction == "none" else loss


def check_cross_entropy(logits: torch.Tensor, target: torch.Tensor, ignore_index: int, reduction: str) -> None:
    """Raise unless `target` holds a class for every row of `logits`, as far as the host can know."""
    if not isinstance(target, torch.Tensor):
        raise TypeError(f"target: expected a torch.Tensor, got {type(target).__name__}")
    if target.dtype != torch.int64:
        raise TypeError(f"target: expected dtype int64, the index of a class, got {str(target.dtype).removeprefix('torch.')}")
    if not isinstance(ignore_index, int) or isinstance(ignore_index, bool):
        raise TypeError(f"ignore_index: expected an int, got {type(ignore_index).__name__}")
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction: expected 'mean', 'sum' or 'none', got {reduction!r}")
    device, shape = target.device, logits.shape
    if device != logits.device:
        check_same_device("target", target, "logits", logits)
    rank = len(shape)
    n_classes = shape[1] if rank > 1 else shape[0] if rank else 0
    if n_classes == 0:
        raise ValueError(f"logits: expected shape [N, C], [C] or [N, C, ...] with at least one class, got {tuple(shape)}")
    wanted = (shape[0],) if rank == 2 else shape[:1] + shape[2:] if rank > 1 else ()
    if target.shape != wanted:
        raise ValueError(f"target: expected shape {tuple(wanted)} for logits of {tuple(shape)}, got {tuple(target.shape)}")
    if device.type == "cpu":
        wrong = target[(target != ignore_index) & ((target < 0) | (target >= n_classes))]
        if wrong.numel():
            classes = f"from 0 to {n_classes - 1}, or ignore_index {ignore_index}"
            raise ValueError(f"target: expected classes {classes}, got {wrong[0].item()}")


def cross_entropy_reference(
    logits: torch.Tensor, target: torch.Tensor, ignore_index: int = -100, reduction: str = "mean"
) -> torch.Tensor:
    """The same operation in plain PyTorch, for logits of shape [N, C]."""
    counts = target != ignore_index
    log_probabilities = logits - torch.logsumexp(logits, 1, keepdim=True)
    loss = -log_probabilities.gather(1, target.where(counts, 0)[:, None])[:, 0]
    loss = loss.where(counts, 0.0)
    if reduction == "none":
        return loss
    return loss.sum() / counts.sum() if reduction == "mean" else loss.sum()
