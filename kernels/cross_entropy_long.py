"""Cross-entropy of rows too long to keep on the chip: a walk along the row for its sum, a walk back for its gradient.

Walking the row, each lane keeps the largest logit m it has met and the sum s of exp(x - m), and rescales s whenever m
grows. A lane takes VECTOR neighboring logits at a time. The walk back starts where the first walk ended, because what
was read last is what the caches still hold.

Vectors begin where 16 bytes align, whatever the row's length: up to VECTOR - 1 logits before the first and after the
last one are the row's edges, and are treated on their own. So a vocabulary of 50,257 is read 16 bytes at a time as well.

Source: M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867.
"""

import triton
import triton.language as tl

from kernels.cross_entropy_total import cross_entropy_counted, cross_entropy_finish


@triton.jit
def cross_entropy_exp(x):
    """exp(x): on a GPU, exp2 is one instruction and exp four."""
    return tl.exp2(x * 1.4426950408889634)


# --8<-- [start:kernel]
@triton.jit
def cross_entropy_long_kernel(
    logits_ptr,
    target_ptr,
    dloss_ptr,
    counts_ptr,
    parts_ptr,
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
    LANES: tl.constexpr,
    VECTOR: tl.constexpr,
):
    # This program owns every num_programs-th row, and holds LANES * VECTOR logits of it at a time.
    pid = tl.program_id(0).to(tl.int64)
    if READY and tl.load(dloss_ptr).to(tl.float32) == 1.0:
        return  # the gradient is there already
    divisor = 1.0
    if REDUCTION == "mean":
        divisor = cross_entropy_counted(counts_ptr, n_rows)
    part = 0.0
    lanes, edge = tl.arange(0, LANES), tl.arange(0, 2 * VECTOR)
    offsets = lanes[:, None] * VECTOR + tl.arange(0, VECTOR)[None, :]  # [LANES, VECTOR]
    for row in range(pid, n_rows, tl.num_programs(0)):
        target = tl.load(target_ptr + row)
        counts = target != ignore_index
        valid = counts & (target >= 0) & (target < n_columns)
        x_row_ptr = logits_ptr + row * logits_row_stride
        head = ((VECTOR - (row * logits_row_stride) % VECTOR) % VECTOR).to(tl.int32)
        n_vectors = (n_columns - head) // VECTOR
        in_head = edge < VECTOR
        edge_columns = tl.where(in_head, edge, edge + (head + (n_vectors - 1) * VECTOR))  # [2 * VECTOR]
        edge_mask = tl.where(in_head, edge < head, edge_columns < n_columns)  # [2 * VECTOR]
        edge_x = tl.load(x_row_ptr + edge_columns, mask=edge_mask & counts, other=-float("inf")).to(tl.float32)
        x_ptrs = logits_ptr + tl.multiple_of(row * logits_row_stride + head, VECTOR) + offsets  # [LANES, VECTOR]

        peak = tl.full([LANES], -float("inf"), tl.float32)
        total = tl.zeros([LANES], tl.float32)
        for start in range(0, tl.where(counts, n_vectors, 0), LANES):
            mask = (start + lanes < n_vectors)[:, None]  # [LANES, 1]
            x = tl.load(x_ptrs + start * VECTOR, mask=mask, other=-float("inf"), eviction_policy="evict_last")
            x = x.to(tl.float32)  # [LANES, VECTOR]
            new_peak = tl.maximum(peak, tl.max(x, axis=1))  # [LANES]
            # A lane that has met nothing but -inf must not compute -inf - -inf, which is NaN.
            shift = tl.where(new_peak == -float("inf"), 0.0, new_peak)
            total = total * cross_entropy_exp(peak - shift) + tl.sum(cross_entropy_exp(x - shift[:, None]), axis=1)
            peak = new_peak
        row_peak = tl.maximum(tl.max(peak, axis=0), tl.max(edge_x, axis=0))
        row_peak = tl.where(counts, row_peak, 0.0)
        row_total = tl.sum(total * cross_entropy_exp(peak - row_peak), axis=0)
        row_total += tl.sum(cross_entropy_exp(edge_x - row_peak), axis=0)
        row_total = tl.where(counts, row_total, 1.0)
        if loss_ptr is not None:
            x_target = tl.load(x_row_ptr + target, mask=valid, other=float("nan")).to(tl.float32)
            loss = tl.where(counts, tl.log(row_total) + (row_peak - x_target), 0.0)
            if REDUCTION == "none":
                tl.store(loss_ptr + row, loss)
            part += loss

        if dlogits_ptr is not None:
            scale = 1.0 / divisor
            if dloss_ptr is not None:
                scale *= tl.load(dloss_ptr + row * dloss_stride).to(tl.float32)
            factor = tl.where(counts, tl.where(valid, scale / row_total, float("nan")), 0.0)
            column = tl.where(valid, target, -1).to(tl.int32)
            dx_row_ptr = dlogits_ptr + row * dlogits_row_stride
            edge_dx = cross_entropy_exp(edge_x - row_peak) * factor  # [2 * VECTOR]
            edge_dx = tl.where(edge_columns == column, edge_dx - scale, edge_dx)
            tl.store(dx_row_ptr + edge_columns, edge_dx, mask=edge_mask)
            # The rows of the gradient begin at the same place of a vector as those of the logits.
            dx_ptrs = dlogits_ptr + tl.multiple_of(row * dlogits_row_stride + head, VECTOR) + offsets  # [LANES, VECTOR]
            last = (n_vectors - 1) // LANES * LANES
            for back in range(0, n_vectors, LANES):
                start = last - back
                mask = (start + lanes < n_vectors)[:, None]  # [LANES, 1]
                x = tl.load(x_ptrs + start * VECTOR, mask=mask & counts, other=-float("inf"), eviction_policy="evict_first")
                dx = cross_entropy_exp(x.to(tl.float32) - row_peak) * factor  # [LANES, VECTOR]
                dx = tl.where(offsets + start * VECTOR == column - head, dx - scale, dx)
                tl.store(dx_ptrs + start * VECTOR, dx, mask=mask, eviction_policy="evict_first")
    if loss_ptr is not None and REDUCTION != "none":
        cross_entropy_finish(part, parts_ptr, counts_ptr, loss_ptr, divisor)
# --8<-- [end:kernel]
