"""Cross-entropy of logits against class indices, the loss of a language model.

    loss = log(sum_j exp(x[j])) - x[t],    dx[i] = (exp(x[i]) / sum_j exp(x[j]) - [i = t]) * dloss

for a row x of logits whose target is class t. No probabilities are stored. Where a gradient will be wanted, the launch
that finds the losses writes the gradient too, as if `dloss` were one; the backward pass hands it over, and computes it
anew where `dloss` turns out to be something else. For n logits of e bytes that is ne read and ne written, all told.
"""

import functools

import torch
import triton

from kernels.arguments import INTERPRETED, check_float_tensor, check_same_device
from kernels.cross_entropy_long import cross_entropy_long_kernel
from kernels.cross_entropy_short import cross_entropy_short_kernel
from kernels.cross_entropy_total import cross_entropy_count_kernel

CROSS_ENTROPY_REDUCTIONS = ("mean", "sum", "none")


@functools.cache
def cross_entropy_multiprocessors(device: torch.device) -> int:
    """How many multiprocessors there are; the interpreter makes do with a few programs."""
    return 3 if device.type == "cpu" else torch.cuda.get_device_properties(device).multi_processor_count


def cross_entropy_route(n_columns: int) -> str:
    """Say in a word which kernel serves rows of this length: `short`, all of a row at once, or `long`, in two walks."""
    return "short" if n_columns <= 8192 else "long"


# --8<-- [start:launch]
def cross_entropy_launch(logits, target, ignore_index, reduction, counts, n_counts, loss=None, dlogits=None, dloss=None, ready=False):
    """Write the loss, the gradient, or both, whichever is given; with `ready`, only if `dloss` is not one."""
    n_rows, n_columns = logits.shape
    limit = cross_entropy_multiprocessors(logits.device)
    if n_columns <= 8192:
        block = triton.next_power_of_2(n_columns)
        tile = max(1, 4096 // block)
        kernel, limit = cross_entropy_short_kernel, limit * 16
        meta = {"ROWS": tile, "BLOCK": block, "num_warps": 4 if block <= 1024 else 8 if block <= 4096 else 16}
    else:
        tile, vector = 1, 16 // logits.element_size()
        kernel, limit = cross_entropy_long_kernel, limit * 2
        meta = {"LANES": 8192 // vector, "VECTOR": vector, "num_warps": 16}
    programs = min(limit, (n_rows + tile - 1) // tile)
    parts = None if loss is None or reduction == "none" else torch.empty(programs, dtype=torch.float32, device=logits.device)
    strides = (logits.stride(0), dlogits.stride(0) if dlogits is not None else 0, dloss.stride(0) if reduction == "none" and dloss is not None else 0)
    sizes = (n_rows, n_columns, n_counts, ignore_index)
    tensors = (logits, target, dloss, counts, parts, loss, dlogits)
    kernel[(programs,)](*tensors, *strides, *sizes, REDUCTION=reduction, READY=ready, **meta)
# --8<-- [end:launch]


def cross_entropy_forward(logits, target, ignore_index, reduction, gradient=False):
    """The loss of rows of logits; with `gradient`, also the gradient as if the loss's own were one, and the counts."""
    n_rows = logits.shape[0]
    loss = torch.empty(n_rows if reduction == "none" else (), dtype=logits.dtype, device=logits.device)
    counts, n_counts, dlogits = None, 0, None
    with torch.cuda.device_of(logits):
        if reduction != "none":
            counts = torch.empty(33, dtype=torch.int32, device=logits.device)
            n_counts = max(1, min(32, n_rows // 1024))
            cross_entropy_count_kernel[(n_counts,)](target, counts, n_rows, ignore_index, COUNT=reduction == "mean", BLOCK=1024)
            dlogits = cross_entropy_gradient(logits) if gradient else None
        cross_entropy_launch(logits, target, ignore_index, reduction, counts, n_counts, loss, dlogits)
    return loss, dlogits, (counts, n_counts)


def cross_entropy_gradient(logits: torch.Tensor) -> torch.Tensor:
    """Memory for a gradient, whose rows begin at the same place of a vector as those of the logits."""
    n_rows, n_columns = logits.shape
    gap = (logits.stride(0) - n_columns) % 8
    dlogits = torch.empty(n_rows, n_columns + gap, dtype=logits.dtype, device=logits.device)
    return dlogits[:, :n_columns] if gap else dlogits


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target, ignore_index, reduction):
        loss, ctx.dlogits, ctx.counts = cross_entropy_forward(logits, target, ignore_index, reduction, gradient=True)
        ctx.options = (ignore_index, reduction)
        ctx.save_for_backward(logits, target)
        return loss

    @staticmethod
    def backward(ctx, dloss):
        logits, target = ctx.saved_tensors
        ignore_index, reduction = ctx.options
        if torch.is_grad_enabled():
            # Somebody differentiates this gradient in turn: PyTorch's own operations know how.
            return cross_entropy_gradient_reference(logits, target, dloss, ignore_index, reduction), None, None, None
        # Handed over once: whoever asks again must not find what the first one may have changed in place.
        dlogits, ctx.dlogits = ctx.dlogits, None
        ready = dlogits is not None
        if not ready:
            dlogits = cross_entropy_gradient(logits)
        with torch.cuda.device_of(logits):
            cross_entropy_launch(logits, target, ignore_index, reduction, *ctx.counts, None, dlogits, dloss.resolve_neg(), ready)
        return dlogits, None, None, None


def cross_entropy_gradient_reference(logits, target, dloss, ignore_index, reduction):
    """The gradient in PyTorch's operations, through which gradients of gradients flow."""
    n_columns = logits.shape[1]
    counts = target != ignore_index
    valid = counts & (target >= 0) & (target < n_columns)
    one_hot = torch.zeros_like(logits, dtype=torch.float32).scatter_(1, target.where(valid, 0)[:, None], 1.0)
    scale = dloss.float() / counts.sum() if reduction == "mean" else dloss.float()
    scale = scale.expand(target.shape).where(valid, float("nan"))
    dlogits = (torch.softmax(logits.float(), 1) - one_hot) * scale[:, None]
    return dlogits.where(counts[:, None], 0.0).to(logits.dtype)


def cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, ignore_index: int = -100, reduction: str = "mean"
) -> torch.Tensor:
    """Compare logits with the classes that were wanted, as `torch.nn.functional.cross_entropy` does.

    Args:
        logits: A tensor of shape [N, C], of any strides; float32, float16 or bfloat16. C may be anything. [C] and
            [N, C, ...] are accepted as in PyTorch: the classes lie along the second dimension, or the only one.
        target: The wanted class of each row, an int64 tensor of the shape of `logits` without the classes.
        ignore_index: Rows with this target count for nothing: their loss and gradient are zero, whatever they hold.
        reduction: `mean` over the rows that count (NaN if there are none), `sum`, or `none` for the loss of each row.

    Returns:
        A tensor of the dtype of `logits`, without dimensions, or of the shape of `target` for `none`. The
            arithmetic is in float32 and rounded once. NaN and infinite logits give what they give in PyTorch.

    Raises:
        TypeError: `logits` or `target` is no tensor or has another dtype, or `ignore_index` is no int.
        ValueError: The shapes do not match, the devices differ, `reduction` is none of the three, or a CPU tensor
            came while Triton's interpreter is off. On the CPU also: a target is out of range. On a GPU the host
            cannot know that without waiting; there, such a row's loss and gradient are NaN.

    Differentiable in `logits`, any number of times: the first gradient is a kernel, gradients of gradients are PyTorch
    operations. It is written together with the loss, so it takes its memory from the forward pass on. An incoming
    gradient other than one (a scaled loss) costs a second launch that computes it anew.

    Bytes:
        For n logits of e bytes, ne read, and with a gradient ne written, both in the forward pass. Rows beyond the
        on-chip limit are read twice for their gradient, the second time mostly from caches.

    Flops:
        About 4 for each logit forward, 3 more for its gradient.

    Source:
        M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", 2018 (arXiv:1805.02867),
        for the long rows. P.-L. Hsu and others, "Liger Kernel: Efficient Triton Kernels for LLM Training", 2024
        (arXiv:2410.10989), for writing the gradient in the forward pass.
    """
    check_float_tensor("logits", logits)
    check_target(logits, target, ignore_index)
    if reduction not in CROSS_ENTROPY_REDUCTIONS:
        raise ValueError(f"reduction: expected 'mean', 'sum' or 'none', got {reduction!r}")
    rows, classes = logits, target
    if logits.ndim != 2:
        rows = logits[None] if logits.ndim == 1 else logits.movedim(1, -1).reshape(-1, logits.shape[1])
        classes = target.reshape(-1)
    if rows.shape[0] == 0:
        # Nothing to launch for. This keeps the result in the graph.
        rows = rows.sum(1)
        return rows.view(target.shape) if reduction == "none" else rows.sum() if reduction == "sum" else rows.mean()
    if rows.stride(1) != 1:
        rows = rows.contiguous()
    rows, classes = rows.resolve_neg(), classes.contiguous()
    if torch.is_grad_enabled() and logits.requires_grad:
        loss = CrossEntropy.apply(rows, classes, ignore_index, reduction)
    else:
        loss = cross_entropy_forward(rows, classes, ignore_index, reduction)[0]
    return loss.view(target.shape) if reduction == "none" else loss


def check_target(logits: torch.Tensor, target: torch.Tensor, ignore_index: int) -> None:
    """Raise unless `target` holds a class for every row of `logits`."""
    if not isinstance(target, torch.Tensor):
        raise TypeError(f"target: expected a torch.Tensor, got {type(target).__name__}")
    if target.dtype != torch.int64:
        raise TypeError(f"target: expected dtype int64, class indices, got {str(target.dtype).removeprefix('torch.')}")
    if not isinstance(ignore_index, int) or isinstance(ignore_index, bool):
        raise TypeError(f"ignore_index: expected an int, got {type(ignore_index).__name__}")
    check_same_device("target", target, "logits", logits)
    if logits.ndim == 0 or target.shape != logits.shape[:1] + logits.shape[2:] if logits.ndim != 1 else target.ndim:
        raise ValueError(f"target: expected the shape of logits without its classes, got {tuple(target.shape)} for logits {tuple(logits.shape)}")
    if logits.shape[min(1, logits.ndim - 1)] == 0:
        raise ValueError(f"logits: expected at least one class, got shape {tuple(logits.shape)}")
    if INTERPRETED and target.device.type == "cpu":
        wrong = target[(target != ignore_index) & ((target < 0) | (target >= logits.shape[min(1, logits.ndim - 1)]))]
        if wrong.numel():
            raise ValueError("...")


def cross_entropy_reference(
    logits: torch.Tensor, target: torch.Tensor, ignore_index: int = -100, reduction: str = "mean"
) -> torch.Tensor:
    """The same operation in plain PyTorch, for logits of shape [N, C]."""
    log_probabilities = logits.float() - logits.float().logsumexp(1, keepdim=True)
    counts = target != ignore_index
    loss = -log_probabilities.gather(1, target.where(counts, 0)[:, None])[:, 0].where(counts, 0.0)
    if reduction == "mean":
        loss = loss.sum() / counts.sum()
    return (loss.sum() if reduction == "sum" else loss).to(logits.dtype)
