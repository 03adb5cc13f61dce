"""Attention, forward: a program keeps its queries on chip and walks over the keys that are open to them.

Of each query it keeps the largest score m that it has met, the sum l of exp2(s - m), and the sum of values so weighed; when m
grows, both sums are scaled down. Scores come in powers of two, so that the scale and log2(e) are one factor, and the hardware
has exp2. No matrix of scores is ever in memory.

Source: T. Dao and others, "FlashAttention", arXiv:2205.14135 and arXiv:2307.08691.
"""

import triton
import triton.language as tl

from kernels.attention.tiles import attention_limits, attention_open, attention_place, attention_range, attention_rows


# --8<-- [start:step]
@triton.jit
def attention_step(q, k, v, out, peak, total, scale, is_open, PRECISION: tl.constexpr):
    """Take a tile of keys and values into the sums of each query."""
    scores = tl.dot(q, k.T, input_precision=PRECISION)  # [BLOCK_M, BLOCK_N]
    if is_open is not None:
        scores = tl.where(is_open, scores, -float("inf"))
    new_peak = tl.maximum(peak, tl.max(scores, 1) * scale)  # [BLOCK_M]
    # A query that has met nothing yet must not compute -inf - -inf, which is NaN.
    shift = tl.where(new_peak == -float("inf"), 0.0, new_peak)
    weights = tl.math.exp2(scores * scale - shift[:, None])  # [BLOCK_M, BLOCK_N]
    shrink = tl.math.exp2(peak - shift)
    total = total * shrink + tl.sum(weights, 1)
    out = tl.dot(weights.to(v.dtype), v, out * shrink[:, None], input_precision=PRECISION)  # [BLOCK_M, WIDTH]
    return out, new_peak, total
# --8<-- [end:step]


# --8<-- [start:kernel]
@triton.jit(do_not_specialize=["n_documents", "q_length", "k_length", "left", "right"])
def attention_forward_kernel(
    q,
    k,
    v,
    out_ptr,
    lse_ptr,
    q_starts_ptr,
    k_starts_ptr,
    q_batch_stride,
    q_head_stride,
    q_row_stride,
    k_batch_stride,
    k_head_stride,
    k_row_stride,
    v_batch_stride,
    v_head_stride,
    v_row_stride,
    out_batch_stride,
    out_head_stride,
    out_row_stride,
    n_heads,
    group,
    n_documents,
    q_length,
    k_length,
    left,
    right,
    scale,
    HAS_LEFT: tl.constexpr,
    HAS_RIGHT: tl.constexpr,
    LOWER_RIGHT: tl.constexpr,
    HEAD: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    LOADS: tl.constexpr,
    UPCAST: tl.constexpr,
    PRECISION: tl.constexpr,
):
    # This program owns BLOCK_M queries of one head.
    all_queries = q_length
    pid = tl.program_id(0).to(tl.int64)
    outer, first, q_start, q_length, k_start, k_length = attention_place(
        pid, q_starts_ptr, k_starts_ptr, n_documents, q_length, k_length, BLOCK_M, HAS_RIGHT
    )
    batch, head = outer // n_heads, outer % n_heads
    k_head = head // group
    low, high = attention_limits(left, right, q_length, k_length, LOWER_RIGHT)
    if LOADS != "given":
        q += batch * q_batch_stride + head * q_head_stride + q_start * q_row_stride
        k += batch * k_batch_stride + k_head * k_head_stride + k_start * k_row_stride
        v += batch * v_batch_stride + k_head * v_head_stride + k_start * v_row_stride
    if LOADS == "made":  # a document may be empty, and a descriptor of no rows is an illegal instruction
        q = tl.make_tensor_descriptor(q, [tl.maximum(q_length, 1), HEAD], [q_row_stride, 1], [BLOCK_M, WIDTH])
        k = tl.make_tensor_descriptor(k, [tl.maximum(k_length, 1), HEAD], [k_row_stride, 1], [BLOCK_N, WIDTH])
        v = tl.make_tensor_descriptor(v, [tl.maximum(k_length, 1), HEAD], [v_row_stride, 1], [BLOCK_N, WIDTH])
    b, h, kh = batch.to(tl.int32), head.to(tl.int32), k_head.to(tl.int32)
    queries = attention_rows(q, b, h, first, q_length, q_row_stride, HEAD, WIDTH, BLOCK_M, LOADS, False, UPCAST)
    rows = first + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    out = tl.zeros([BLOCK_M, WIDTH], tl.float32)
    peak = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    last = tl.minimum(first + BLOCK_M, q_length) - 1
    begin, plain_begin, plain_end, end = attention_range(first, last, k_length, low, high, HAS_LEFT, HAS_RIGHT, BLOCK_N)
    for tile in tl.range(plain_begin, plain_end):
        start = tile * BLOCK_N
        keys = attention_rows(k, b, kh, start, k_length, k_row_stride, HEAD, WIDTH, BLOCK_N, LOADS, True, UPCAST)
        values = attention_rows(v, b, kh, start, k_length, v_row_stride, HEAD, WIDTH, BLOCK_N, LOADS, True, UPCAST)
        out, peak, total = attention_step(queries, keys, values, out, peak, total, scale, None, PRECISION)
    for tile in tl.range(begin, end - (plain_end - plain_begin)):
        start = tl.where(tile < plain_begin, tile, tile + plain_end - plain_begin) * BLOCK_N
        keys = attention_rows(k, b, kh, start, k_length, k_row_stride, HEAD, WIDTH, BLOCK_N, LOADS, False, UPCAST)
        values = attention_rows(v, b, kh, start, k_length, v_row_stride, HEAD, WIDTH, BLOCK_N, LOADS, False, UPCAST)
        columns = start + tl.arange(0, BLOCK_N)  # [BLOCK_N]
        is_open = attention_open(rows[:, None], columns[None, :], k_length, low, high, HAS_LEFT, HAS_RIGHT)
        out, peak, total = attention_step(queries, keys, values, out, peak, total, scale, is_open, PRECISION)
    # A query without keys is left with sums of 0, and an output of 0.
    total = tl.where(total == 0.0, 1.0, total)
    out = out / total[:, None]
    columns = tl.arange(0, WIDTH)  # [WIDTH]
    mask = (rows < q_length)[:, None] & ((columns < HEAD) | (HEAD == WIDTH))[None, :]  # [BLOCK_M, WIDTH]
    out_ptr += batch * out_batch_stride + head * out_head_stride + q_start * out_row_stride
    tl.store(out_ptr + rows.to(tl.int64)[:, None] * out_row_stride + columns[None, :], out, mask=mask)
    lse = (peak + tl.math.log2(total)) * 0.6931471805599453  # [BLOCK_M]
    tl.store(lse_ptr + outer * all_queries + q_start + rows, lse, mask=rows < q_length)
# --8<-- [end:kernel]
