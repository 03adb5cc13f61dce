"""The kernel of `kernels.rotary_embedding`, and its launch: queries and keys are turned by one grid of programs.

A program owns a token, or a few neighboring ones, and where every sequence has but one, those of a few sequences. Where half
a head is a power of two, it turns whole heads of the queries and of the keys, one after the other, and loads the rows of the
table once for all of them. Any other half would leave lanes of a block idle. There the pairs are counted on from head to
head, a program owns a block of the queries' or one of the keys', and each lane loads the part of the table that its pairs
need; neighboring lanes that need the same are served by one read.
"""

import functools
import math

import triton
import triton.language as tl

from kernels.common.sizes import cdiv, next_power_of_2


@triton.jit
def rotary_embedding_turn(
    x_ptr,
    out_ptr,
    x_head_stride,
    x_token_stride,
    out_head_stride,
    out_token_stride,
    n_heads,
    group,
    tokens,
    pairs,
    mask,
    cos,
    sin,
    second_cos,
    second_sin,
    HALF: tl.constexpr,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
    VECTOR: tl.constexpr,
):
    """Turn a group's pairs, for a few tokens; the second number of a pair lies HALF behind the first."""
    if BLOCK == HALF:
        heads = (group * HEADS + tl.arange(0, HEADS))[:, None]  # [HEADS, 1]
    else:
        heads = ((group * BLOCK + tl.arange(0, BLOCK)) // HALF)[None, :]  # [1, BLOCK]
    mask = mask[:, None, :] & (heads < n_heads)[None, :, :]  # [TOKENS, HEADS, 1] or [TOKENS, 1, BLOCK]
    heads, tokens, pairs = heads[None, :, :], tokens[:, None, None], pairs[None, None, :]
    x_ptrs = x_ptr + (tokens * x_token_stride + heads * x_head_stride) * VECTOR + pairs
    first = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)  # [TOKENS, HEADS, BLOCK]
    second = tl.load(x_ptrs + HALF, mask=mask, other=0.0).to(tl.float32)  # [TOKENS, HEADS, BLOCK]
    out_ptrs = out_ptr + (tokens * out_token_stride + heads * out_head_stride) * VECTOR + pairs
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
    q_groups,
    HALF: tl.constexpr,
    WIDE: tl.constexpr,
    INVERSE: tl.constexpr,
    TOKENS: tl.constexpr,
    Q_HEADS: tl.constexpr,
    K_HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
    VECTOR: tl.constexpr,
):
    # This program owns TOKENS neighboring tokens, and of these Q_HEADS and K_HEADS whole heads of the queries and of the keys, or
    # BLOCK pairs of either, counted on from head to head: first come the q_groups blocks of the queries, then those of the keys.
    # All strides are counted in vectors of VECTOR numbers, so that the compiler knows what divides them.
    group = tl.program_id(0).to(tl.int64)
    of_q, of_k = True, True
    if BLOCK != HALF:
        of_q, of_k = group < q_groups, group >= q_groups
        group = tl.where(of_q, group, group - q_groups)
    tokens = tl.program_id(1).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)  # [TOKENS]
    mask = (tokens < n_tokens)[:, None]  # [TOKENS, 1]
    pairs = tl.arange(0, BLOCK)  # [BLOCK]
    if BLOCK != HALF:
        pairs = (group * BLOCK + pairs) % HALF  # [BLOCK]
    for batch in range(tl.program_id(2).to(tl.int64), n_batches, tl.num_programs(2)):
        cos_ptrs = cos_ptr + batch * cos_batch_stride * VECTOR + tokens[:, None] * cos_token_stride * VECTOR + pairs[None, :]
        sin_ptrs = sin_ptr + batch * sin_batch_stride * VECTOR + tokens[:, None] * sin_token_stride * VECTOR + pairs[None, :]
        cos = tl.load(cos_ptrs, mask=mask, other=0.0).to(tl.float32)[:, None, :]  # [TOKENS, 1, BLOCK]
        sin = tl.load(sin_ptrs, mask=mask, other=0.0).to(tl.float32)[:, None, :]  # [TOKENS, 1, BLOCK]
        second_cos, second_sin = cos, sin
        if WIDE:
            second_cos = tl.load(cos_ptrs + HALF, mask=mask, other=0.0).to(tl.float32)[:, None, :]
            second_sin = tl.load(sin_ptrs + HALF, mask=mask, other=0.0).to(tl.float32)[:, None, :]
        if INVERSE:
            sin, second_sin = -second_sin, -sin
        tile = (tokens, pairs, mask, cos, sin, second_cos, second_sin)
        if of_q:
            strides = (q_head_stride, q_token_stride, q_out_head_stride, q_out_token_stride)
            x_ptr, out_ptr = q_ptr + batch * q_batch_stride * VECTOR, q_out_ptr + batch * q_out_batch_stride * VECTOR
            rotary_embedding_turn(x_ptr, out_ptr, *strides, n_q_heads, group, *tile, HALF, Q_HEADS, BLOCK, VECTOR)
        if of_k:
            strides = (k_head_stride, k_token_stride, k_out_head_stride, k_out_token_stride)
            x_ptr, out_ptr = k_ptr + batch * k_batch_stride * VECTOR, k_out_ptr + batch * k_out_batch_stride * VECTOR
            rotary_embedding_turn(x_ptr, out_ptr, *strides, n_k_heads, group, *tile, HALF, K_HEADS, BLOCK, VECTOR)


def rotary_embedding_tile(half: int, n_q_heads: int, n_k_heads: int, n_tokens: int) -> tuple[int, int, int, int]:
    """The tokens of a program, its heads of the queries and of the keys, and its warps, where `half` is a power of two.

    Programs of one warp with up to 768 pairs did best where they were timed, on an H200.
    """
    q_heads = 1 if half > 256 or n_q_heads <= 1 else 2
    k_heads = next_power_of_2(max(1, cdiv(n_k_heads, max(1, cdiv(n_q_heads, q_heads)))))
    pairs = (q_heads + k_heads) * half
    tokens = 1
    while 2 * tokens * pairs <= 768 and tokens < min(n_tokens, 16):
        tokens *= 2
    tokens = max(tokens, next_power_of_2(cdiv(n_tokens, 65535)))  # a grid is no longer along its second axis
    return tokens, q_heads, k_heads, min(1 << max(tokens * pairs // 1024, 1).bit_length() - 1, 16)


def rotary_embedding_block(q_pairs: int, k_pairs: int, vector: int, n_tokens: int) -> tuple[int, int]:
    """The pairs and the tokens of a program, where `half` is not a power of two: the block that leaves the fewest lanes idle."""
    most = 128 if vector == 1 else 64 * vector
    sizes = [size for size in (most, most // 2, most // 4, most // 8) if size >= 16]
    idle = [-q_pairs % size + -k_pairs % size for size in sizes]
    block = sizes[idle.index(min(idle))]
    tokens = 1
    while 2 * tokens * block <= most and tokens < n_tokens:
        tokens *= 2
    return block, max(tokens, next_power_of_2(cdiv(n_tokens, 65535)))


@functools.lru_cache(maxsize=4096)
def rotary_embedding_plan(
    q_shape, n_k_heads, q_stride, k_stride, q_out_stride, k_out_stride, table_shape, cos_stride, sin_stride, element_size
) -> tuple:
    """The grid, the numbers and the constants of a launch."""
    n_batches, n_q_heads, n_tokens, width = q_shape
    half, shared = width // 2, len(table_shape) == 2 or table_shape[0] == 1
    strides = (*q_stride[:3], *k_stride[:3], *q_out_stride[:3], *k_out_stride[:3])
    strides += (0 if shared else cos_stride[0], cos_stride[-2], 0 if shared else sin_stride[0], sin_stride[-2])
    if n_tokens == 1:  # the sequences take the place of the tokens, of which a program owns several
        n_batches, n_tokens = 1, n_batches
        strides = tuple(strides[place] for place in (2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 13, 12, 15, 14))
    if half & (half - 1):
        vector = math.gcd(16 // element_size, half, *strides)
        strides = tuple(stride // vector for stride in strides)
        block, tokens = rotary_embedding_block(n_q_heads * half, n_k_heads * half, vector, n_tokens)
        q_heads, k_heads, num_warps = 1, 1, max(1, block * tokens // 256)
        q_groups = cdiv(n_q_heads * half, block)
        groups = q_groups + cdiv(n_k_heads * half, block)
    else:
        vector, block = 1, half
        tokens, q_heads, k_heads, num_warps = rotary_embedding_tile(half, n_q_heads, n_k_heads, n_tokens)
        q_groups = groups = max(cdiv(n_q_heads, q_heads), cdiv(n_k_heads, k_heads))
    grid = (groups, cdiv(n_tokens, tokens), min(n_batches, 65535))
    sizes = (n_batches, n_tokens, n_q_heads, n_k_heads, q_groups)
    meta = {"HALF": half, "WIDE": table_shape[-1] != half, "TOKENS": tokens, "Q_HEADS": q_heads, "K_HEADS": k_heads}
    meta |= {"BLOCK": block, "VECTOR": vector, "num_warps": num_warps}
    return grid, strides + sizes, meta


def rotary_embedding_launch(q, k, cos, sin, q_out, k_out, inverse):
    grid, numbers, meta = rotary_embedding_plan(
        q.shape, k.shape[1], q.stride(), k.stride(), q_out.stride(), k_out.stride(),
        cos.shape, cos.stride(), sin.stride(), q.element_size(),
    )
    rotary_embedding_kernel[grid](q, k, cos, sin, q_out, k_out, *numbers, INVERSE=inverse, **meta)
