"""Rotary position embedding (RoPE): turn pairs of a query's or key's numbers by an angle that grows with the position.

    out[i] = x[i] cos[i] - x[i + D/2] sin[i],    out[i + D/2] = x[i + D/2] cos[i] + x[i] sin[i],    i < D/2

The gradient is the rotation by minus the angle, so the backward pass is the same kernel with the sine negated. Queries
and keys go through one launch. For n numbers of e bytes in both together it reads ne bytes and writes ne, besides the
tables, and does 3n floating-point operations.
"""

import torch
import triton
import triton.language as tl

from kernels.arguments import check_float_tensor, check_same_device


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


def rotary_embedding_forward(q, k, cos, sin, inverse=False):
    q, k = (x.resolve_neg() if x.stride(3) == 1 else x.contiguous() for x in (q, k))
    q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    if q.numel() or k.numel():
        with torch.cuda.device_of(q):
            rotary_embedding_launch(q, k, cos, sin, q_out, k_out, inverse)
    return q_out, k_out


class RotaryEmbedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, cos, sin, inverse):
        ctx.inverse = inverse
        ctx.save_for_backward(cos, sin)
        return rotary_embedding_forward(q, k, cos, sin, inverse)

    @staticmethod
    def backward(ctx, dq, dk):
        cos, sin = ctx.saved_tensors
        # A rotation is linear: its gradient is the rotation back, whose gradient is the rotation again.
        if torch.is_grad_enabled():
            dq, dk = RotaryEmbedding.apply(dq, dk, cos, sin, not ctx.inverse)
        else:
            dq, dk = rotary_embedding_forward(dq, dk, cos, sin, not ctx.inverse)
        return dq, dk, None, None, None


def rotary_embedding(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Turn queries and keys by the angles of their positions, both in one launch, out of place.

    The first half of a head's numbers is paired with the second half, as in Llama and its relatives; `cos` and `sin`
    hold the cosine and sine of each position's D/2 angles, either once or twice in a row.

    Args:
        q: The queries, of shape [B, H, S, D] with D even; float32, float16 or bfloat16. Any strides: for queries of
            shape [B, S, H, D], pass `q.transpose(1, 2)`, and nothing is copied.
        k: The keys, of shape [B, K, S, D] and of the dtype of `q`; K may differ from H.
        cos: A table of shape [S, D/2] or [S, D], or with a batch of 1 or B before that; float32, float16 or bfloat16.
        sin: A table of the shape of `cos`.

    Returns:
        Two tensors of the shapes and the dtype of `q` and `k`, and of their layout in memory where they fill it. The
            arithmetic is in float32 and rounded once.

    Raises:
        TypeError: An argument is no tensor or has another dtype, or the dtypes of `q` and `k` differ.
        ValueError: The shapes do not fit together, the devices differ, a table requires a gradient, or a CPU tensor
            came while Triton's interpreter is off.

    Differentiable in `q` and `k`, any number of times: every gradient is the same kernel.

    Bytes:
        For n numbers of e bytes in `q` and `k` together, ne read and ne written, besides the tables, in either
        direction. Inputs whose last dimension does not lie side by side are copied first.

    Flops:
        3 for each number.

    Source:
        J. Su and others, "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021 (arXiv:2104.09864).
    """
    for name, tensor in (("q", q), ("k", k), ("cos", cos), ("sin", sin)):
        check_float_tensor(name, tensor)
        if tensor.device != q.device:
            check_same_device(name, tensor, "q", q)
    if cos.ndim == 2 == sin.ndim:
        cos, sin = cos[None], sin[None]
    check_rotary_shapes(q, k, cos, sin)
    if cos.stride(2) != 1 or sin.stride(2) != 1:
        cos, sin = cos.contiguous(), sin.contiguous()
    cos, sin = cos.resolve_neg(), sin.resolve_neg()
    if torch.is_grad_enabled() and (q.requires_grad or k.requires_grad):
        return RotaryEmbedding.apply(q, k, cos, sin, False)
    return rotary_embedding_forward(q, k, cos, sin)


def check_rotary_shapes(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> None:
    """Raise unless queries, keys and tables, which have a batch here, fit together."""
    if q.ndim != 4 or q.shape[3] % 2:
        raise ValueError(f"q: expected shape [B, H, S, D] with D even, got {tuple(q.shape)}")
    batches, _, tokens, width = q.shape
    if k.ndim != 4 or (k.shape[0], k.shape[2], k.shape[3]) != (batches, tokens, width):
        raise ValueError(f"k: expected shape [{batches}, K, {tokens}, {width}] beside q's {tuple(q.shape)}, got {tuple(k.shape)}")
    if k.dtype != q.dtype:
        raise TypeError(f"k: expected dtype {q.dtype}, the dtype of q, got {k.dtype}".replace("torch.", ""))
    if cos.ndim != 3 or cos.shape[0] not in (1, batches) or cos.shape[1] != tokens or cos.shape[2] not in (width // 2, width):
        wanted = f"[{tokens}, {width // 2}] or [{tokens}, {width}], or a batch of those"
        raise ValueError(f"cos: expected shape {wanted}, got {tuple(cos.shape)}")
    if sin.shape != cos.shape:
        raise ValueError(f"sin: expected shape {tuple(cos.shape)}, the shape of cos, got {tuple(sin.shape)}")
    if torch.is_grad_enabled() and (cos.requires_grad or sin.requires_grad):
        raise ValueError("cos, sin: expected tables that require no gradient, got one that does; use detach() or torch.no_grad()")


def rotary_embedding_reference(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same operation in plain PyTorch: two products, a negated half, a concatenation and a sum, for each of the two."""
    half = q.shape[-1] // 2
    if cos.shape[-1] == half:
        cos, sin = torch.cat((cos, cos), -1), torch.cat((sin, sin), -1)
    cos, sin = cos.unsqueeze(-3), sin.unsqueeze(-3)
    q, k = (x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin for x in (q, k))
    return q, k
