"""Cross-entropy of rows that fit on the chip: one read of the logits, and where a gradient is wanted one write.

    loss = log(sum_j exp(x[j] - m)) + m - x[t],    dx[i] = (exp(x[i] - m) / sum_j exp(x[j] - m) - [i = t]) * scale

Bytes and flops are those of `kernels.cross_entropy`.
"""

import triton
import triton.language as tl

from kernels.cross_entropy.total import LOG2_OF_E, cross_entropy_counted, cross_entropy_finish


@triton.jit
def cross_entropy_short_kernel(
    logits_ptr,
    target_ptr,
    dloss_ptr,
    counts_ptr,
    parts_ptr,
    arrived_ptr,
    loss_ptr,
    dlogits_ptr,
    logits_row_stride,
    dlogits_row_stride,
    dloss_stride,
    n_rows,
    n_columns,
    ignore_index,
    REDUCTION: tl.constexpr,
    READY: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
):
    # This program owns ROWS neighboring rows, and every num_programs-th such tile after them.
    pid = tl.program_id(0).to(tl.int64)
    if READY and tl.load(dloss_ptr).to(tl.float32) == 1.0:
        return  # the gradient is there already
    divisor = 1.0
    if REDUCTION == "mean" and dlogits_ptr is not None:
        divisor = cross_entropy_counted(counts_ptr, n_rows)
    if EVEN:  # the same numbers, now seen to be multiples of a vector's length
        n_columns = n_columns // 8 * 8
        logits_row_stride, dlogits_row_stride = logits_row_stride // 8 * 8, dlogits_row_stride // 8 * 8
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    step = tl.num_programs(0) * ROWS
    part = tl.zeros([ROWS], tl.float32)
    count = tl.zeros([ROWS], tl.int32)
    rows = pid * ROWS + tl.arange(0, ROWS)  # [ROWS]
    next_target = tl.load(target_ptr + rows, mask=rows < n_rows, other=ignore_index)
    for first in range(pid * ROWS, n_rows, step):
        rows = first + tl.arange(0, ROWS)  # [ROWS]
        row_mask = rows < n_rows  # [ROWS]
        target = next_target
        # A tile ahead, because nothing of a row can be loaded before it is known whether the row counts.
        next_target = tl.load(target_ptr + rows + step, mask=rows + step < n_rows, other=ignore_index)
        counts = target != ignore_index  # [ROWS]
        valid = counts & (target >= 0) & (target < n_columns)  # [ROWS]
        x_ptrs = logits_ptr + rows * logits_row_stride  # [ROWS]
        mask = (columns < n_columns)[None, :]  # [1, BLOCK]
        x = tl.load(x_ptrs[:, None] + columns[None, :], mask=mask & counts[:, None], other=-float("inf"))
        x = x.to(tl.float32)  # [ROWS, BLOCK]
        peak = tl.where(counts, tl.max(x, axis=1), 0.0)  # [ROWS]
        exponential = tl.exp2((x - peak[:, None]) * LOG2_OF_E)  # [ROWS, BLOCK]
        total = tl.where(counts, tl.sum(exponential, axis=1), 1.0)  # [ROWS]
        if loss_ptr is not None:
            x_target = tl.load(x_ptrs + target, mask=valid, other=float("nan")).to(tl.float32)
            loss = tl.where(counts, tl.log(total) + (peak - x_target), 0.0)  # [ROWS]
            if REDUCTION == "none":
                tl.store(loss_ptr + rows, loss, mask=row_mask)
            part += loss
            count += counts.to(tl.int32)
        if dlogits_ptr is not None:
            scale = tl.full([ROWS], 1.0, tl.float32) / divisor  # [ROWS]
            if dloss_ptr is not None:
                scale *= tl.load(dloss_ptr + rows * dloss_stride, mask=row_mask, other=0.0).to(tl.float32)
            factor = tl.where(counts, tl.where(valid, scale / total, float("nan")), 0.0)  # [ROWS]
            column = tl.where(valid, target, -1).to(tl.int32)  # [ROWS]
            dx = exponential * factor[:, None]  # [ROWS, BLOCK]
            dx = tl.where(columns[None, :] == column[:, None], dx - scale[:, None], dx)
            dx_ptrs = dlogits_ptr + rows[:, None] * dlogits_row_stride + columns[None, :]
            tl.store(dx_ptrs, dx, mask=mask & row_mask[:, None])
    if loss_ptr is not None and REDUCTION != "none":
        cross_entropy_finish(tl.sum(part, axis=0), tl.sum(count, axis=0), parts_ptr, arrived_ptr, loss_ptr, REDUCTION)
