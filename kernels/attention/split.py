"""Attention of a few queries over many keys, as when a model writes on: the keys are shared out among programs.

A program owns a part of one head's keys, and all queries of the heads that share it, which so are read once. It leaves the
softmax of its part and the logarithm of its sum of weights; a second launch weighs the parts by these and adds them up:

    lse = log(sum_p exp(lse_p)),    out = sum_p exp(lse_p - lse) out_p

Keys and values are read once and hardly computed with, so the memory sets the time.
"""

import triton
import triton.language as tl

from kernels.attention.forward import attention_step
from kernels.attention.tiles import attention_limits, attention_open, attention_range, attention_rows


# --8<-- [start:split]
@triton.jit(do_not_specialize=["q_length", "k_length", "left", "right", "n_parts", "part_tiles"])
def attention_split_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    part_ptr,
    part_lse_ptr,
    q_batch_stride,
    q_head_stride,
    q_row_stride,
    k_batch_stride,
    k_head_stride,
    k_row_stride,
    v_batch_stride,
    v_head_stride,
    v_row_stride,
    n_heads,
    group,
    q_length,
    k_length,
    left,
    right,
    n_parts,
    part_tiles,
    scale,
    HAS_LEFT: tl.constexpr,
    HAS_RIGHT: tl.constexpr,
    LOWER_RIGHT: tl.constexpr,
    HEAD: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    UPCAST: tl.constexpr,
    PRECISION: tl.constexpr,
):
    # This program owns one part of the keys of one head, for BLOCK_M of the pairs of a query and a head that shares them.
    pid = tl.program_id(0).to(tl.int64)
    part, rest = pid % n_parts, pid // n_parts
    n_tiles = tl.cdiv(group * q_length, BLOCK_M)
    outer, first = rest // n_tiles, (rest % n_tiles) * BLOCK_M
    n_k_heads = n_heads // group
    batch, k_head = outer // n_k_heads, outer % n_k_heads
    pairs = first + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    mask = pairs < group * q_length
    heads, rows = k_head * group + pairs // q_length, (pairs % q_length).to(tl.int32)  # [BLOCK_M]
    columns = tl.arange(0, WIDTH)  # [WIDTH]
    inside = mask[:, None] & ((columns < HEAD) | (HEAD == WIDTH))[None, :]  # [BLOCK_M, WIDTH]
    q_rows = batch * q_batch_stride + heads * q_head_stride + rows.to(tl.int64) * q_row_stride
    queries = tl.load(q_ptr + q_rows[:, None] + columns[None, :], mask=inside, other=0.0)  # [BLOCK_M, WIDTH]
    if UPCAST:
        queries = queries.to(tl.float32)
    k_ptr += batch * k_batch_stride + k_head * k_head_stride
    v_ptr += batch * v_batch_stride + k_head * v_head_stride
    out = tl.zeros([BLOCK_M, WIDTH], tl.float32)
    peak = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    low, high = attention_limits(left, right, q_length, k_length, LOWER_RIGHT)
    begin, _, _, end = attention_range(0, q_length - 1, k_length, low, high, HAS_LEFT, HAS_RIGHT, BLOCK_N)
    mine = begin + part.to(tl.int32) * part_tiles
    for tile in tl.range(mine, tl.minimum(mine + part_tiles, end)):
        start = tile * BLOCK_N
        keys = attention_rows(
            k_ptr, 0, 0, start, k_length, k_row_stride, HEAD, WIDTH, BLOCK_N, "pointers", False, UPCAST
        )
        values = attention_rows(
            v_ptr, 0, 0, start, k_length, v_row_stride, HEAD, WIDTH, BLOCK_N, "pointers", False, UPCAST
        )
        is_open = attention_open(
            rows[:, None], (start + tl.arange(0, BLOCK_N))[None, :], k_length, low, high, HAS_LEFT, HAS_RIGHT
        )
        out, peak, total = attention_step(queries, keys, values, out, peak, total, scale, is_open, PRECISION)
    total = tl.where(total == 0.0, 1.0, total)
    # Rows of parts lie as those of the output do when it is contiguous, and a row's parts side by side.
    at = ((batch * n_heads + heads) * q_length + rows) * n_parts + part  # [BLOCK_M]
    tl.store(part_ptr + at[:, None] * HEAD + columns[None, :], out / total[:, None], mask=inside)
    tl.store(part_lse_ptr + at, peak + tl.math.log2(total), mask=mask)
# --8<-- [end:split]


# --8<-- [start:join]
@triton.jit(do_not_specialize=["q_length", "n_parts"])
def attention_join_kernel(
    part_ptr,
    part_lse_ptr,
    out_ptr,
    lse_ptr,
    out_batch_stride,
    out_head_stride,
    out_row_stride,
    n_heads,
    q_length,
    n_parts,
    HEAD: tl.constexpr,
    WIDTH: tl.constexpr,
    PARTS: tl.constexpr,
):
    # This program owns one query of one head, and takes PARTS parts at a time.
    pid = tl.program_id(0).to(tl.int64)
    outer, row = pid // q_length, pid % q_length
    batch, head = outer // n_heads, outer % n_heads
    columns = tl.arange(0, WIDTH)  # [WIDTH]
    out = tl.zeros([WIDTH], tl.float32)
    peak = tl.max(tl.full([PARTS], -float("inf"), tl.float32), 0)
    total = tl.sum(tl.zeros([PARTS], tl.float32), 0)
    for start in range(0, n_parts, PARTS):
        parts = start + tl.arange(0, PARTS)  # [PARTS]
        at = pid * n_parts + parts  # [PARTS]
        lse = tl.load(part_lse_ptr + at, mask=parts < n_parts, other=-float("inf"))
        new_peak = tl.maximum(peak, tl.max(lse, 0))
        shift = tl.where(new_peak == -float("inf"), 0.0, new_peak)
        weights, shrink = tl.math.exp2(lse - shift), tl.math.exp2(peak - shift)
        mask = (parts < n_parts)[:, None] & (columns < HEAD)[None, :]  # [PARTS, WIDTH]
        values = tl.load(part_ptr + at[:, None] * HEAD + columns[None, :], mask=mask, other=0.0)
        out = out * shrink + tl.sum(weights[:, None] * values, 0)
        total = total * shrink + tl.sum(weights, 0)
        peak = new_peak
    total = tl.where(total == 0.0, 1.0, total)
    out_ptr += batch * out_batch_stride + head * out_head_stride + row * out_row_stride
    tl.store(out_ptr + columns, out / total, mask=columns < HEAD)
    tl.store(lse_ptr + pid, (peak + tl.math.log2(total)) * 0.6931471805599453)
# --8<-- [end:join]
