"""The gradient of rows too long to keep on the chip, with their loss: two walks along each row.

    dx[i] = (exp(x[i] - m) / sum_j exp(x[j] - m) - [i = t]) * scale

The first walk finds the row's largest logit and sum, the second writes the gradient. The second walk goes back the way
the first one came, because what was read last is what the caches still hold. A program finishes a row before it begins
the next, so that few rows are in flight.
"""

import triton
import triton.language as tl

from kernels.cross_entropy.long import cross_entropy_edges, cross_entropy_fold, cross_entropy_gather
from kernels.cross_entropy.total import LOG2_OF_E, cross_entropy_counted, cross_entropy_finish


@triton.jit
def cross_entropy_gradient_kernel(
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
    lanes = tl.arange(0, LANES)  # [LANES]
    offsets = lanes[:, None] * VECTOR + tl.arange(0, VECTOR)[None, :]  # [LANES, VECTOR]
    step = tl.num_programs(0)
    part, count = 0.0, 0
    next_target = tl.load(target_ptr + pid)
    for row in range(pid, n_rows, step):
        target = next_target
        # A row ahead, because nothing of a row can be loaded before it is known whether the row counts.
        next_target = tl.load(target_ptr + row + step, mask=row + step < n_rows, other=ignore_index)
        counts = target != ignore_index
        valid = counts & (target >= 0) & (target < n_columns)
        first = row * logits_row_stride
        head, n_vectors, edge_columns, edge_mask = cross_entropy_edges(first, n_columns, VECTOR)
        edge_read = tl.where(counts, edge_mask, False)  # [2 * VECTOR]
        edge_x = tl.load(logits_ptr + first + edge_columns, mask=edge_read, other=-float("inf")).to(tl.float32)
        x_ptrs = logits_ptr + tl.multiple_of(first + head, VECTOR) + offsets  # [LANES, VECTOR]
        n_read = tl.where(counts, n_vectors, 0)
        peak = tl.full([LANES], -float("inf"), tl.float32)
        total = tl.zeros([LANES], tl.float32)
        for start in range(0, n_read, LANES):
            mask = (start + lanes < n_read)[:, None]  # [LANES, 1]
            x = tl.load(x_ptrs + start * VECTOR, mask=mask, other=-float("inf"))
            peak, total = cross_entropy_fold(x, peak, total)
        row_peak, row_total = cross_entropy_gather(peak, total, edge_x, counts)
        if loss_ptr is not None:
            x_target = tl.load(logits_ptr + first + target, mask=valid, other=float("nan")).to(tl.float32)
            loss = tl.where(counts, tl.log(row_total) + (row_peak - x_target), 0.0)
            if REDUCTION == "none":
                tl.store(loss_ptr + row, loss)
            part += loss
            count += counts.to(tl.int32)

        scale = 1.0 / divisor
        if dloss_ptr is not None:
            scale *= tl.load(dloss_ptr + row * dloss_stride).to(tl.float32)
        factor = tl.where(counts, tl.where(valid, scale / row_total, float("nan")), 0.0)
        column = tl.where(valid, target, -1).to(tl.int32)
        dx_first = row * dlogits_row_stride
        edge_dx = tl.exp2((edge_x - row_peak) * LOG2_OF_E) * factor  # [2 * VECTOR]
        edge_dx = tl.where(edge_columns == column, edge_dx - scale, edge_dx)
        tl.store(dlogits_ptr + dx_first + edge_columns, edge_dx, mask=edge_mask)
        # The rows of the gradient begin at the same place of a vector as those of the logits.
        dx_ptrs = dlogits_ptr + tl.multiple_of(dx_first + head, VECTOR) + offsets  # [LANES, VECTOR]
        last = (n_vectors - 1) // LANES * LANES
        for back in range(0, n_vectors, LANES):
            start = last - back
            x_mask = (start + lanes < n_read)[:, None]  # [LANES, 1]
            x = tl.load(x_ptrs + start * VECTOR, mask=x_mask, other=-float("inf"), eviction_policy="evict_first")
            dx = tl.exp2((x.to(tl.float32) - row_peak) * LOG2_OF_E) * factor  # [LANES, VECTOR]
            dx = tl.where(offsets + start * VECTOR == column - head, dx - scale, dx)
            dx_mask = (start + lanes < n_vectors)[:, None]  # [LANES, 1]
            tl.store(dx_ptrs + start * VECTOR, dx, mask=dx_mask, eviction_policy="evict_first")
    if loss_ptr is not None and REDUCTION != "none":
        cross_entropy_finish(part, count, parts_ptr, arrived_ptr, loss_ptr, REDUCTION)
