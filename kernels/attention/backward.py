"""Attention, backward: the weights are computed again, and each gradient is summed by the program that owns its rows.

With P the weights, dP = dO Vᵀ, and D a query's sum of dO times O, less the gradient of its log-sum-exp:

    dV = Pᵀ dO,    dS = P * (dP - D),    dQ = dS K scale,    dK = dSᵀ Q scale

One kernel owns keys and walks over the queries of every head that shares them, the other owns queries and walks over keys. So no
two programs add to one number, and the sums are the same to the last bit every time. It costs two of seven products, which both
compute; adding dQ up in memory with atomics, in one kernel, was slower wherever it was tried.

Source: T. Dao and others, "FlashAttention", arXiv:2205.14135 and arXiv:2307.08691.
"""

import triton
import triton.language as tl

from kernels.attention.tiles import attention_limits, attention_open, attention_place, attention_range, attention_rows

LOG2_E = tl.constexpr(1.4426950408889634)


# --8<-- [start:delta]
@triton.jit(do_not_specialize=["length"])
def attention_delta_kernel(
    out_ptr,
    dout_ptr,
    lse_ptr,
    dlse_ptr,
    delta_ptr,
    limit_ptr,
    out_batch_stride,
    out_head_stride,
    out_row_stride,
    dout_batch_stride,
    dout_head_stride,
    dout_row_stride,
    n_heads,
    length,
    HEAD: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # This program owns BLOCK queries of one head.
    pid = tl.program_id(0).to(tl.int64)
    n_tiles = tl.cdiv(length, BLOCK)
    outer, first = pid // n_tiles, (pid % n_tiles) * BLOCK
    batch, head = outer // n_heads, outer % n_heads
    out_ptr += batch * out_batch_stride + head * out_head_stride
    dout_ptr += batch * dout_batch_stride + head * dout_head_stride
    out = attention_rows(out_ptr, 0, 0, first, length, out_row_stride, HEAD, WIDTH, BLOCK, "pointers", False, True)
    dout = attention_rows(dout_ptr, 0, 0, first, length, dout_row_stride, HEAD, WIDTH, BLOCK, "pointers", False, True)
    delta = tl.sum(out * dout, 1)  # [BLOCK]
    rows = first + tl.arange(0, BLOCK)  # [BLOCK]
    offsets, mask = outer * length + rows, rows < length
    if dlse_ptr is not None:
        delta -= tl.load(dlse_ptr + offsets, mask=mask, other=0.0)
    tl.store(delta_ptr + offsets, delta, mask=mask)
    # In powers of two; and so high for a query without keys that all its weights become 0.
    lse = tl.load(lse_ptr + offsets, mask=mask, other=0.0)
    tl.store(limit_ptr + offsets, tl.where(lse == -float("inf"), float("inf"), lse * LOG2_E), mask=mask)
# --8<-- [end:delta]


# --8<-- [start:keys_step]
@triton.jit
def attention_keys_step(k, v, q, dout, limit, delta, dk, dv, scale, is_open, PRECISION: tl.constexpr):
    """Add what a tile of queries has to say on these keys and values; all matrices of weights lie on their side."""
    scores = tl.dot(k, q.T, input_precision=PRECISION)  # [BLOCK_N, BLOCK_M]
    weights = tl.math.exp2(scores * scale - limit[None, :])
    if is_open is not None:
        weights = tl.where(is_open, weights, 0.0)
    dv = tl.dot(weights.to(dout.dtype), dout, dv, input_precision=PRECISION)  # [BLOCK_N, WIDTH]
    dweights = tl.dot(v, dout.T, input_precision=PRECISION)  # [BLOCK_N, BLOCK_M]
    dscores = (weights * (dweights - delta[None, :])).to(q.dtype)
    dk = tl.dot(dscores, q, dk, input_precision=PRECISION)  # [BLOCK_N, WIDTH]
    return dk, dv
# --8<-- [end:keys_step]


# --8<-- [start:keys]
@triton.jit(do_not_specialize=["n_documents", "q_length", "k_length", "left", "right"])
def attention_keys_kernel(
    q,
    k,
    v,
    dout,
    limit_ptr,
    delta_ptr,
    dk_ptr,
    dv_ptr,
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
    dout_batch_stride,
    dout_head_stride,
    dout_row_stride,
    dk_batch_stride,
    dk_head_stride,
    dk_row_stride,
    dv_batch_stride,
    dv_head_stride,
    dv_row_stride,
    n_heads,
    group,
    n_documents,
    q_length,
    k_length,
    left,
    right,
    scale,
    dk_scale,
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
    # This program owns BLOCK_N keys and values of one head, which `group` heads of queries share.
    all_queries = q_length
    pid = tl.program_id(0).to(tl.int64)
    outer, first, k_start, k_length, q_start, q_length = attention_place(
        pid, k_starts_ptr, q_starts_ptr, n_documents, k_length, q_length, BLOCK_N, False
    )
    n_k_heads = n_heads // group
    batch, k_head = outer // n_k_heads, outer % n_k_heads
    low, high = attention_limits(left, right, q_length, k_length, LOWER_RIGHT)
    b, kh, first_head = batch.to(tl.int32), k_head.to(tl.int32), (k_head * group).to(tl.int32)
    if LOADS != "given":
        q += batch * q_batch_stride + q_start * q_row_stride
        dout += batch * dout_batch_stride + q_start * dout_row_stride
        k += batch * k_batch_stride + k_head * k_head_stride + k_start * k_row_stride
        v += batch * v_batch_stride + k_head * v_head_stride + k_start * v_row_stride
        b, kh, first_head = 0, 0, 0
    if LOADS == "made":  # of all heads that share the keys; of batches there is one, whose stride does not count
        q = tl.make_tensor_descriptor(
            q + k_head * group * q_head_stride,
            [1, group, tl.maximum(q_length, 1), HEAD],  # a document may be empty, and a descriptor may not
            [q_head_stride, q_head_stride, q_row_stride, 1],
            [1, 1, BLOCK_M, WIDTH],
        )
        dout = tl.make_tensor_descriptor(
            dout + k_head * group * dout_head_stride,
            [1, group, tl.maximum(q_length, 1), HEAD],  # a document may be empty, and a descriptor may not
            [dout_head_stride, dout_head_stride, dout_row_stride, 1],
            [1, 1, BLOCK_M, WIDTH],
        )
    # A program loads its own rows once, for which no descriptor is made.
    OWN: tl.constexpr = "pointers" if LOADS == "made" else LOADS
    WALKED: tl.constexpr = "given" if LOADS == "made" else LOADS
    keys = attention_rows(k, b, kh, first, k_length, k_row_stride, HEAD, WIDTH, BLOCK_N, OWN, False, UPCAST)
    values = attention_rows(v, b, kh, first, k_length, v_row_stride, HEAD, WIDTH, BLOCK_N, OWN, False, UPCAST)
    rows = first + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    dk = tl.zeros([BLOCK_N, WIDTH], tl.float32)
    dv = tl.zeros([BLOCK_N, WIDTH], tl.float32)
    last = tl.minimum(first + BLOCK_N, k_length) - 1
    begin, plain_begin, plain_end, end = attention_range(first, last, q_length, -high, -low, HAS_RIGHT, HAS_LEFT, BLOCK_M)
    for member in range(group):
        head = k_head * group + member
        at = (batch * n_heads + head) * all_queries + q_start
        limits, deltas = limit_ptr + at, delta_ptr + at
        q_of_head, dout_of_head = q, dout
        if LOADS == "pointers":
            q_of_head, dout_of_head = q + head * q_head_stride, dout + head * dout_head_stride
        h = first_head + member
        for tile in tl.range(plain_begin, plain_end):
            start = tile * BLOCK_M
            queries = attention_rows(
                q_of_head, b, h, start, q_length, q_row_stride, HEAD, WIDTH, BLOCK_M, WALKED, True, UPCAST
            )
            douts = attention_rows(
                dout_of_head, b, h, start, q_length, dout_row_stride, HEAD, WIDTH, BLOCK_M, WALKED, True, UPCAST
            )
            columns = start + tl.arange(0, BLOCK_M)  # [BLOCK_M]
            limit, delta = tl.load(limits + columns), tl.load(deltas + columns)
            dk, dv = attention_keys_step(keys, values, queries, douts, limit, delta, dk, dv, scale, None, PRECISION)
        for tile in tl.range(begin, end - (plain_end - plain_begin)):
            start = tl.where(tile < plain_begin, tile, tile + plain_end - plain_begin) * BLOCK_M
            queries = attention_rows(
                q_of_head, b, h, start, q_length, q_row_stride, HEAD, WIDTH, BLOCK_M, WALKED, False, UPCAST
            )
            douts = attention_rows(
                dout_of_head, b, h, start, q_length, dout_row_stride, HEAD, WIDTH, BLOCK_M, WALKED, False, UPCAST
            )
            columns = start + tl.arange(0, BLOCK_M)  # [BLOCK_M]
            # What is no query has no weights either.
            limit = tl.load(limits + columns, mask=columns < q_length, other=float("inf"))
            delta = tl.load(deltas + columns, mask=columns < q_length, other=0.0)
            is_open = attention_open(columns[None, :], rows[:, None], k_length, low, high, HAS_LEFT, HAS_RIGHT)
            dk, dv = attention_keys_step(keys, values, queries, douts, limit, delta, dk, dv, scale, is_open, PRECISION)
    columns = tl.arange(0, WIDTH)  # [WIDTH]
    mask = (rows < k_length)[:, None] & ((columns < HEAD) | (HEAD == WIDTH))[None, :]  # [BLOCK_N, WIDTH]
    dk_ptr += batch * dk_batch_stride + k_head * dk_head_stride + k_start * dk_row_stride
    dv_ptr += batch * dv_batch_stride + k_head * dv_head_stride + k_start * dv_row_stride
    rows = rows.to(tl.int64)[:, None]
    tl.store(dk_ptr + rows * dk_row_stride + columns[None, :], dk * dk_scale, mask=mask)
    tl.store(dv_ptr + rows * dv_row_stride + columns[None, :], dv, mask=mask)
# --8<-- [end:keys]


# --8<-- [start:queries_step]
@triton.jit
def attention_queries_step(q, dout, k, v, limit, delta, dq, scale, is_open, PRECISION: tl.constexpr):
    """Add what a tile of keys and values has to say on these queries."""
    scores = tl.dot(q, k.T, input_precision=PRECISION)  # [BLOCK_M, BLOCK_N]
    weights = tl.math.exp2(scores * scale - limit[:, None])
    if is_open is not None:
        weights = tl.where(is_open, weights, 0.0)
    dweights = tl.dot(dout, v.T, input_precision=PRECISION)  # [BLOCK_M, BLOCK_N]
    dscores = (weights * (dweights - delta[:, None])).to(k.dtype)
    return tl.dot(dscores, k, dq, input_precision=PRECISION)  # [BLOCK_M, WIDTH]
# --8<-- [end:queries_step]


# --8<-- [start:queries]
@triton.jit(do_not_specialize=["n_documents", "q_length", "k_length", "left", "right"])
def attention_queries_kernel(
    q,
    k,
    v,
    dout,
    limit_ptr,
    delta_ptr,
    dq_ptr,
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
    dout_batch_stride,
    dout_head_stride,
    dout_row_stride,
    dq_batch_stride,
    dq_head_stride,
    dq_row_stride,
    n_heads,
    group,
    n_documents,
    q_length,
    k_length,
    left,
    right,
    scale,
    dq_scale,
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
        dout += batch * dout_batch_stride + head * dout_head_stride + q_start * dout_row_stride
        k += batch * k_batch_stride + k_head * k_head_stride + k_start * k_row_stride
        v += batch * v_batch_stride + k_head * v_head_stride + k_start * v_row_stride
    if LOADS == "made":
        k = tl.make_tensor_descriptor(k, [tl.maximum(k_length, 1), HEAD], [k_row_stride, 1], [BLOCK_N, WIDTH])
        v = tl.make_tensor_descriptor(v, [tl.maximum(k_length, 1), HEAD], [v_row_stride, 1], [BLOCK_N, WIDTH])
    OWN: tl.constexpr = "pointers" if LOADS == "made" else LOADS
    b, h, kh = batch.to(tl.int32), head.to(tl.int32), k_head.to(tl.int32)
    queries = attention_rows(q, b, h, first, q_length, q_row_stride, HEAD, WIDTH, BLOCK_M, OWN, False, UPCAST)
    douts = attention_rows(dout, b, h, first, q_length, dout_row_stride, HEAD, WIDTH, BLOCK_M, OWN, False, UPCAST)
    rows = first + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    at, mask = outer * all_queries + q_start + rows, rows < q_length
    limit = tl.load(limit_ptr + at, mask=mask, other=float("inf"))  # [BLOCK_M]
    delta = tl.load(delta_ptr + at, mask=mask, other=0.0)  # [BLOCK_M]
    dq = tl.zeros([BLOCK_M, WIDTH], tl.float32)
    last = tl.minimum(first + BLOCK_M, q_length) - 1
    begin, plain_begin, plain_end, end = attention_range(first, last, k_length, low, high, HAS_LEFT, HAS_RIGHT, BLOCK_N)
    for tile in tl.range(plain_begin, plain_end):
        start = tile * BLOCK_N
        keys = attention_rows(k, b, kh, start, k_length, k_row_stride, HEAD, WIDTH, BLOCK_N, LOADS, True, UPCAST)
        values = attention_rows(v, b, kh, start, k_length, v_row_stride, HEAD, WIDTH, BLOCK_N, LOADS, True, UPCAST)
        dq = attention_queries_step(queries, douts, keys, values, limit, delta, dq, scale, None, PRECISION)
    for tile in tl.range(begin, end - (plain_end - plain_begin)):
        start = tl.where(tile < plain_begin, tile, tile + plain_end - plain_begin) * BLOCK_N
        keys = attention_rows(k, b, kh, start, k_length, k_row_stride, HEAD, WIDTH, BLOCK_N, LOADS, False, UPCAST)
        values = attention_rows(v, b, kh, start, k_length, v_row_stride, HEAD, WIDTH, BLOCK_N, LOADS, False, UPCAST)
        columns = start + tl.arange(0, BLOCK_N)  # [BLOCK_N]
        is_open = attention_open(rows[:, None], columns[None, :], k_length, low, high, HAS_LEFT, HAS_RIGHT)
        dq = attention_queries_step(queries, douts, keys, values, limit, delta, dq, scale, is_open, PRECISION)
    columns = tl.arange(0, WIDTH)  # [WIDTH]
    dq_ptr += batch * dq_batch_stride + head * dq_head_stride + q_start * dq_row_stride
    mask = mask[:, None] & ((columns < HEAD) | (HEAD == WIDTH))[None, :]  # [BLOCK_M, WIDTH]
    tl.store(dq_ptr + rows.to(tl.int64)[:, None] * dq_row_stride + columns[None, :], dq * dq_scale, mask=mask)
# --8<-- [end:queries]
