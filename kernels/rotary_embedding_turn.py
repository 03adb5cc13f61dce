"""The kernel of `kernels.rotary_embedding`, and its launch: queries and keys are turned by one grid of programs.

A program owns a few neighboring tokens and a few heads. It loads the tokens' rows of the table once, for all its heads.
"""

import triton
import triton.language as tl


@triton.jit
def rotary_embedding_turn(
    x_ptr,
    out_ptr,
    x_head_stride,
    x_token_stride,
    out_head_stride,
    out_token_stride,
    heads,
    n_heads,
    tokens,
    pairs,
    mask,
    cos,
    sin,
    second_cos,
    second_sin,
    HALF: tl.constexpr,
):
    """Turn a tile of heads; the second number of a pair lies HALF behind the first."""
    mask = mask[:, None, :] & (heads < n_heads)[None, :, None]  # [TOKENS, HEADS, BLOCK]
    heads, tokens, pairs = heads[None, :, None], tokens[:, None, None], pairs[None, None, :]
    x_ptrs = x_ptr + tokens * x_token_stride + heads * x_head_stride + pairs
    first = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)  # [TOKENS, HEADS, BLOCK]
    second = tl.load(x_ptrs + HALF, mask=mask, other=0.0).to(tl.float32)  # [TOKENS, HEADS, BLOCK]
    out_ptrs = out_ptr + tokens * out_token_stride + heads * out_head_stride + pairs
    tl.store(out_ptrs, first * cos - second * sin, mask=mask)
    tl.store(out_ptrs + HALF, second * second_cos + first * second_sin, mask=mask)


@triton.jit
def rotary_embedding_kernel(
    q_ptr,
    k_ptr,
    cos_ptr,
    sin_ptr,
    q_out_ptr,
    k_out_ptr,
    q_batch_stride,
    q_head_stride,
    q_token_stride,
    k_batch_stride,
    k_head_stride,
    k_token_stride,
    q_out_batch_stride,
    q_out_head_stride,
    q_out_token_stride,
    k_out_batch_stride,
    k_out_head_stride,
    k_out_token_stride,
    cos_batch_stride,
    cos_token_stride,
    sin_batch_stride,
    sin_token_stride,
    n_batches,
    n_tokens,
    n_q_heads,
    n_k_heads,
    HALF: tl.constexpr,
    WIDE: tl.constexpr,
    INVERSE: tl.constexpr,
    TOKENS: tl.constexpr,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # This program owns TOKENS neighboring tokens, and HEADS heads of the queries or of the keys.
    group = tl.program_id(0).to(tl.int64)
    tokens = tl.program_id(1).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)  # [TOKENS]
    pairs = tl.arange(0, BLOCK)  # [BLOCK]
    mask = (tokens < n_tokens)[:, None] & (pairs < HALF)[None, :]  # [TOKENS, BLOCK]
    q_groups = (n_q_heads + HEADS - 1) // HEADS
    for batch in range(tl.program_id(2).to(tl.int64), n_batches, tl.num_programs(2)):
        cos_ptrs = cos_ptr + batch * cos_batch_stride + tokens[:, None] * cos_token_stride + pairs[None, :]
        sin_ptrs = sin_ptr + batch * sin_batch_stride + tokens[:, None] * sin_token_stride + pairs[None, :]
        cos = tl.load(cos_ptrs, mask=mask, other=0.0).to(tl.float32)[:, None, :]  # [TOKENS, 1, BLOCK]
        sin = tl.load(sin_ptrs, mask=mask, other=0.0).to(tl.float32)[:, None, :]  # [TOKENS, 1, BLOCK]
        second_cos, second_sin = cos, sin
        if WIDE:
            second_cos = tl.load(cos_ptrs + HALF, mask=mask, other=0.0).to(tl.float32)[:, None, :]
            second_sin = tl.load(sin_ptrs + HALF, mask=mask, other=0.0).to(tl.float32)[:, None, :]
        if INVERSE:
            sin, second_sin = -second_sin, -sin
        table = (tokens, pairs, mask, cos, sin, second_cos, second_sin, HALF)
        if group < q_groups:
            heads = group * HEADS + tl.arange(0, HEADS)  # [HEADS]
            x_ptr = q_ptr + batch * q_batch_stride
            out_ptr = q_out_ptr + batch * q_out_batch_stride
            strides = (q_head_stride, q_token_stride, q_out_head_stride, q_out_token_stride)
            rotary_embedding_turn(x_ptr, out_ptr, *strides, heads, n_q_heads, *table)
        else:
            heads = (group - q_groups) * HEADS + tl.arange(0, HEADS)  # [HEADS]
            x_ptr = k_ptr + batch * k_batch_stride
            out_ptr = k_out_ptr + batch * k_out_batch_stride
            strides = (k_head_stride, k_token_stride, k_out_head_stride, k_out_token_stride)
            rotary_embedding_turn(x_ptr, out_ptr, *strides, heads, n_k_heads, *table)


def rotary_embedding_launch(q, k, cos, sin, q_out, k_out, inverse):
    n_batches, n_q_heads, n_tokens, width = q.shape
    n_k_heads = k.shape[1]
    half = width // 2
    block = triton.next_power_of_2(half)
    heads, tokens, num_warps = (8, 2, 4) if block <= 32 else (4, 4, 1) if block <= 64 else (4, 2, 1)
    tokens = max(tokens, triton.next_power_of_2((n_tokens + 65534) // 65535))  # a grid is no longer along its second axis
    groups = (n_q_heads + heads - 1) // heads + (n_k_heads + heads - 1) // heads
    grid = (groups, (n_tokens + tokens - 1) // tokens, min(n_batches, 65535))
    strides = (*q.stride()[:3], *k.stride()[:3], *q_out.stride()[:3], *k_out.stride()[:3])
    shared = cos.shape[0] == 1
    tables = (0 if shared else cos.stride(0), cos.stride(1), 0 if shared else sin.stride(0), sin.stride(1))
    sizes = (n_batches, n_tokens, n_q_heads, n_k_heads)
    meta = {"HALF": half, "WIDE": cos.shape[2] != half, "INVERSE": inverse, "TOKENS": tokens, "HEADS": heads, "BLOCK": block}
    rotary_embedding_kernel[grid](q, k, cos, sin, q_out, k_out, *strides, *tables, *sizes, **meta, num_warps=num_warps)
