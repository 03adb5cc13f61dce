"""How many rows of logits are in memory at a time, and the pass over all chunks of them.

The products are PyTorch's, which calls cuBLAS: they are plain matrix products, with nothing around them that a kernel of
one's own could spare, and cuBLAS is the faster tool there.
"""

import torch

from kernels.common.arguments import on_device_of
from kernels.common.sizes import cdiv, next_power_of_2
from kernels.cross_entropy.launch import cross_entropy_multiprocessors
from kernels.linear_cross_entropy.rows import linear_cross_entropy_kernel, linear_cross_entropy_scale_kernel

# Rows of a chunk begin at multiples of so many numbers, whatever the number of classes: tensor cores and wide loads need it.
ALIGNED = 16


# --8<-- [start:chunk]
LEAST_ROWS = 512


def linear_cross_entropy_chunk(hidden: int) -> int:
    """How many rows of logits to hold at a time, where there are so many.

    The gradient of a weight of C classes has C * hidden numbers, which nothing saves. A chunk of R rows has C * R. So an
    eighth of `hidden` adds an eighth to what must be there anyway. But each chunk adds its part to that whole gradient, which
    is read and written for it, and so a chunk has 512 rows at least: for each number of that gradient, 512 multiplications.
    """
    return max(LEAST_ROWS, hidden // 8 // 128 * 128)
# --8<-- [end:chunk]


def linear_cross_entropy_launch(logits, target, dloss, count, loss, ignore_index, smoothing, gradient) -> None:
    """Find the losses of a chunk of logits and, with `gradient`, write their gradient over them."""
    n_rows, n_classes = logits.shape
    block = min(4096, max(16, next_power_of_2(n_classes)))
    linear_cross_entropy_kernel[(n_rows,)](
        *(logits, target, dloss, count, loss, logits.stride(0), 0 if dloss is None else dloss.stride(0)),
        *(n_classes, ignore_index, smoothing),
        SMOOTHED=smoothing > 0,
        GRADIENT=gradient,
        BLOCK=block,
        num_warps=8 if block == 4096 else 4,
    )


def linear_cross_entropy_scale(gradient, dloss, count=None) -> None:
    """Multiply a gradient by `dloss`, in place and without asking the GPU for it; by one, nothing is read or written."""
    n_elements = gradient.numel()
    if n_elements:
        programs = min(cdiv(n_elements, 4096), 16 * cross_entropy_multiprocessors(gradient.device))
        linear_cross_entropy_scale_kernel[(programs,)](gradient, dloss, count, n_elements, BLOCK=4096, num_warps=8)


def linear_cross_entropy_pass(x, weight, target, bias, options, wanted, dloss=None, count=None, with_loss=True) -> tuple:
    """The loss of every row in float32, and the gradients of x, weight and bias that `wanted` says, for the scale of `dloss`.

    Args:
        options: `ignore_index`, the smoothing, and the rows of a chunk.
        wanted: Which of the three gradients, as booleans.
        dloss: The scale of each row's gradient, or None for one.
        count: What every row's gradient is divided by, a number on the device, or None.
        with_loss: Whether the losses are asked for.
    """
    ignore_index, smoothing, chunk = options
    n_rows, n_classes = x.shape[0], weight.shape[0]
    losses = torch.empty(n_rows, dtype=torch.float32, device=x.device) if with_loss else None
    dx = torch.empty_like(x) if wanted[0] else None
    dweight = torch.empty_like(weight, memory_format=torch.contiguous_format) if wanted[1] else None
    dbias = torch.zeros(n_classes, dtype=torch.float32, device=x.device) if wanted[2] else None
    room = x.new_empty(min(chunk, n_rows), cdiv(n_classes, ALIGNED) * ALIGNED)
    for first in range(0, n_rows, chunk):
        part = slice(first, min(first + chunk, n_rows))
        x_part, target_part = x[part], target[part]
        logits = room[: x_part.shape[0], :n_classes]
        if bias is None:
            torch.mm(x_part, weight.t(), out=logits)
        else:
            torch.addmm(bias, x_part, weight.t(), out=logits)
        with on_device_of(x):
            linear_cross_entropy_launch(
                *(logits, target_part, None if dloss is None else dloss[part], count),
                *(None if losses is None else losses[part], ignore_index, smoothing, any(wanted)),
            )
        # From here on, what lies in `logits` is their gradient.
        if dx is not None:
            torch.mm(logits, weight, out=dx[part])
        if dweight is not None:
            # The sum over the rows of a chunk is in float32; from chunk to chunk, it is kept in the dtype of the weight.
            dweight.addmm_(logits.t(), x_part, beta=0 if first == 0 else 1)
        if dbias is not None:
            dbias += logits.sum(0, dtype=torch.float32)
    return losses, dx, dweight, None if dbias is None else dbias.to(bias.dtype)
