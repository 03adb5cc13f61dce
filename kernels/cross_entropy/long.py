"""The loss of rows too long to keep on the chip, in one walk along each row.

    loss = log(sum_j exp(x[j] - m)) + m - x[t],    m = max_j x[j]

Walking the row, each lane keeps the largest logit m it has met and the sum s of exp(x - m), and rescales s whenever m
grows. A lane takes VECTOR neighboring logits at a time, so that it rescales once for all of them.

Vectors begin where 16 bytes align, whatever the row's length. Up to VECTOR - 1 logits before the first one and after the
last one are the row's edges, and are treated on their own. So a vocabulary of 50,257 is read 16 bytes at a time as well.

Source: M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867.
"""

import triton
import triton.language as tl

from kernels.cross_entropy.total import LOG2_OF_E, cross_entropy_finish


@triton.jit
def cross_entropy_edges(first, n_columns, VECTOR: tl.constexpr):
    """A row's edges, and the vectors between them: where the first one begins, and how many there are."""
    head = ((VECTOR - first % VECTOR) % VECTOR).to(tl.int32)
    n_vectors = (n_columns - head) // VECTOR
    edge = tl.arange(0, 2 * VECTOR)  # [2 * VECTOR]
    columns = tl.where(edge < VECTOR, edge, edge + (head + (n_vectors - 1) * VECTOR))
    mask = tl.where(edge < VECTOR, edge < head, columns < n_columns)
    return head, n_vectors, columns, mask


@triton.jit
def cross_entropy_fold(x, peak, total):
    """Take a vector more into each lane's largest logit and sum."""
    x = x.to(tl.float32)  # [LANES, VECTOR]
    new_peak = tl.maximum(peak, tl.max(x, axis=1))  # [LANES]
    # A lane that has met nothing but -inf must not compute -inf - -inf, which is NaN.
    shift = tl.where(new_peak == -float("inf"), 0.0, new_peak)
    total = total * tl.exp2((peak - shift) * LOG2_OF_E) + tl.sum(tl.exp2((x - shift[:, None]) * LOG2_OF_E), axis=1)
    return new_peak, total


@triton.jit
def cross_entropy_gather(peak, total, edge_x, counts):
    """The row's largest logit and sum, from the lanes' and the edges'."""
    row_peak = tl.maximum(tl.max(peak, axis=0), tl.max(edge_x, axis=0))
    row_peak = tl.where(counts, row_peak, 0.0)
    row_total = tl.sum(total * tl.exp2((peak - row_peak) * LOG2_OF_E), axis=0)
    row_total += tl.sum(tl.exp2((edge_x - row_peak) * LOG2_OF_E), axis=0)
    return row_peak, tl.where(counts, row_total, 1.0)


@triton.jit
def cross_entropy_long_kernel(
    logits_ptr,
    target_ptr,
    parts_ptr,
    arrived_ptr,
    loss_ptr,
    logits_row_stride,
    n_rows,
    n_columns,
    ignore_index,
    REDUCTION: tl.constexpr,
    LANES: tl.constexpr,
    VECTOR: tl.constexpr,
):
    # This program owns every num_programs-th row, and holds LANES * VECTOR logits of it at a time.
    pid = tl.program_id(0).to(tl.int64)
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
        x_target = tl.load(logits_ptr + first + target, mask=valid, other=float("nan")).to(tl.float32)
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
        loss = tl.where(counts, tl.log(row_total) + (row_peak - x_target), 0.0)
        if REDUCTION == "none":
            tl.store(loss_ptr + row, loss)
        part += loss
        count += counts.to(tl.int32)
    if REDUCTION != "none":
        cross_entropy_finish(part, count, parts_ptr, arrived_ptr, loss_ptr, REDUCTION)
