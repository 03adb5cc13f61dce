"""The two kernels of `kernels.linear_cross_entropy`: one turns rows of logits into their gradient where they lie, one scales.

    loss = log(sum_j exp(x[j] - m)) + m - (1 - s) x[t] - s mean(x),    dx[i] = (p[i] - (1 - s) [i = t] - s / n) * scale

Each row is walked along twice: once for its largest logit, its sum and the target's logit, once to write the gradient over
the logits. The target's logit is picked out of what the first walk holds in registers. A load of its own could come too late:
another warp of the program might have written the gradient there already.

A row has room for `row_stride` numbers, a multiple of sixteen, so that loads and stores are wide whatever the number of classes.
What lies in that room past the last class is nobody's: it is read and replaced.
"""

import triton
import triton.language as tl

from kernels.cross_entropy.total import LOG2_OF_E


# --8<-- [start:kernel]
@triton.jit
def linear_cross_entropy_kernel(
    logits_ptr,
    target_ptr,
    dloss_ptr,
    count_ptr,
    loss_ptr,
    row_stride,
    dloss_stride,
    n_classes,
    ignore_index,
    smoothing,
    SMOOTHED: tl.constexpr,
    GRADIENT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # This program owns one row of the chunk.
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(target_ptr + row)
    counts = target != ignore_index
    valid = counts & (target >= 0) & (target < n_classes)
    x_ptr = logits_ptr + row * row_stride
    n_read = tl.where(counts, row_stride, 0)
    peak = -float("inf")
    total = tl.zeros([BLOCK], tl.float32)
    hit = tl.zeros([BLOCK], tl.float32)
    plain_sum = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_read, BLOCK):
        columns = start + tl.arange(0, BLOCK)  # [BLOCK]
        x = tl.load(x_ptr + columns, mask=columns < n_read, other=-float("inf")).to(tl.float32)  # [BLOCK]
        x = tl.where(columns < n_classes, x, -float("inf"))
        higher = tl.maximum(peak, tl.max(x, axis=0))
        # While all logits are minus infinity there is nothing to subtract: minus infinity from itself would be NaN.
        base = tl.where(higher == -float("inf"), 0.0, higher)
        total = total * tl.exp2((peak - base) * LOG2_OF_E) + tl.exp2((x - base) * LOG2_OF_E)
        hit = tl.where(columns == target, x, hit)
        if SMOOTHED:
            plain_sum += tl.where(columns < n_classes, x, 0.0)
        peak = higher
    base = tl.where(peak == -float("inf"), 0.0, peak)
    row_total = tl.where(counts, tl.sum(total, axis=0), 1.0)
    if loss_ptr is not None:
        wanted = tl.sum(hit, axis=0)
        if SMOOTHED:
            wanted = (1.0 - smoothing) * wanted + smoothing * (tl.sum(plain_sum, axis=0) / n_classes)
        loss = tl.where(valid, tl.log(row_total) + (base - wanted), float("nan"))
        tl.store(loss_ptr + row, tl.where(counts, loss, 0.0))
    if GRADIENT:
        scale = 1.0
        if dloss_ptr is not None:
            scale = tl.load(dloss_ptr + row * dloss_stride).to(tl.float32)
        if count_ptr is not None:
            scale /= tl.load(count_ptr).to(tl.float32)
        scale = tl.where(valid, scale, float("nan"))
        factor = scale / row_total
        on_target, elsewhere = scale, 0.0
        if SMOOTHED:
            on_target, elsewhere = scale * (1.0 - smoothing), scale * (smoothing / n_classes)
        for start in range(0, row_stride, BLOCK):
            columns = start + tl.arange(0, BLOCK)  # [BLOCK]
            x = tl.load(x_ptr + columns, mask=columns < n_read, other=0.0).to(tl.float32)  # [BLOCK]
            x = tl.where(columns < n_classes, x, -float("inf"))
            dx = tl.exp2((x - base) * LOG2_OF_E) * factor - elsewhere  # [BLOCK]
            dx = tl.where(columns == target, dx - on_target, dx)
            tl.store(x_ptr + columns, tl.where(counts, dx, 0.0), mask=columns < row_stride)
# --8<-- [end:kernel]


@triton.jit
def linear_cross_entropy_scale_kernel(gradient_ptr, dloss_ptr, count_ptr, n_elements, BLOCK: tl.constexpr):
    # This program owns every num_programs-th block, and leaves them as they are where nothing is to be done.
    factor = tl.load(dloss_ptr).to(tl.float32)
    if count_ptr is not None:
        factor /= tl.maximum(tl.load(count_ptr), 1).to(tl.float32)
    if factor == 1.0:
        return
    first = tl.program_id(0).to(tl.int64) * BLOCK
    for start in range(first, n_elements, tl.num_programs(0).to(tl.int64) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = offsets < n_elements
        gradient = tl.load(gradient_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        tl.store(gradient_ptr + offsets, gradient * factor, mask=mask)
