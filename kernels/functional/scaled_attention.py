"""Attention under PyTorch's name."""

import math

import torch

from kernels.attention.arguments import attention_mask, check_attention, check_attention_scale
from kernels.attention.gradient import NO_SECOND_GRADIENT, attention_apply, positive_scale
from kernels.functional.batching import batched, folded, laid_out_calls, one_by_one, parted
from kernels.functional.forms import CHOSEN, check_tensors, form, in_autocast, refuse, shared_shape
from kernels.functional.transforms import is_transformed
from kernels.operators.attention import attention_backward_operator, attention_operator


def map_attention(info, dims, q, k, v, q_starts, k_starts, *options):
    if q_starts is not None:
        return one_by_one(attention_operator)(info, dims, q, k, v, q_starts, k_starts, *options)
    q, k, v = (folded(info, one, dim) for one, dim in zip((q, k, v), dims[:3], strict=True))
    out, lse = attention_operator(q, k, v, None, None, *options)
    return (out.unflatten(0, (info.batch_size, -1)), parted(info, lse)), (0, 0)


def map_attention_backward(info, dims, q, k, v, out, lse, dout, dlse, q_starts, k_starts, *options):
    if q_starts is not None:
        given = (q, k, v, out, lse, dout, dlse, q_starts, k_starts)
        return one_by_one(attention_backward_operator)(info, dims, *given, *options)
    q, k, v = (folded(info, one, dim) for one, dim in zip((q, k, v), dims[:3], strict=True))
    left = zip((out, lse, dout, dlse), dims[3:7], strict=True)
    kept = (None if one is None else laid_out_calls(info, one, dim) for one, dim in left)
    found = attention_backward_operator(q, k, v, *kept, None, None, *options)
    return tuple(one.unflatten(0, (info.batch_size, -1)) for one in found), (0, 0, 0)


attention_batched = batched(attention_operator, map_attention)
attention_backward_batched = batched(attention_backward_operator, map_attention_backward)


class AttentionTransformed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(q, k, v, mask, scale, deterministic):
        return attention_batched(q, k, v, None, None, *mask, scale, deterministic)

    @staticmethod
    def setup_context(ctx, inputs, output):
        q, k, v, *ctx.options = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(q, k, v, *output)

    @staticmethod
    def backward(ctx, dout, _):
        return *AttentionSlope.apply(*ctx.saved_tensors, dout, *ctx.options), None, None, None


class AttentionSlope(torch.autograd.Function):
    """The gradient, which refuses to be differentiated."""

    generate_vmap_rule = True

    @staticmethod
    def forward(q, k, v, out, lse, dout, mask, scale, deterministic):
        return attention_backward_batched(q, k, v, out, lse, dout, None, None, None, *mask, scale, deterministic)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *_):
        raise NotImplementedError(NO_SECOND_GRADIENT)


def in_four_dims(x: torch.Tensor, before: tuple[int, ...]) -> torch.Tensor:
    """[..., H, L, D] as [B, H, L, D]."""
    heads = (1, *x.shape[-2:]) if x.ndim == 2 else x.shape[-3:]
    return x.expand(*before, *heads).reshape(math.prod(before), *heads)


def as_wide_as(x: torch.Tensor, width: int) -> torch.Tensor:
    return x if x.shape[-1] == width else torch.nn.functional.pad(x, (0, width - x.shape[-1]))


@form(
    "torch.nn.functional.scaled_dot_product_attention",
    composed="Heads of values of another size than those of queries are filled up with zeros, and batches that broadcast are "
    "copied where they have to be.",
    refused="`attn_mask` (for windows there is `kernels.attention`), `dropout_p`, heads of more than 256 numbers",
    cuda=CHOSEN,
    cpu=CHOSEN,
)
def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """`torch.nn.functional.scaled_dot_product_attention`, computed by `kernels.attention`.

    Args:
        query: [..., H, L, E], or [L, E] for a single head.
        key: [..., H, S, E]; fewer heads where `enable_gqa` says so.
        value: [..., H, S, F]. F may differ from E.
        attn_mask: Has to be None.
        dropout_p: Has to be 0.0.
        is_causal: Whether a query sees no key past the diagonal, which begins in the upper left corner.
        scale: The factor of the products; 1 / sqrt(E) unless given.
        enable_gqa: Whether neighboring heads of queries may share one of keys and values.

    Raises:
        NotImplementedError: `attn_mask` or `dropout_p` was given.
        ValueError: A head has more than 256 numbers, or the shapes do not fit together.

    Examples:
        >>> import kernels.functional as F
        >>> q, k, v = torch.zeros(3, 1, 2, 4, 16)
        >>> F.scaled_dot_product_attention(q, k, v, is_causal=True).shape
        torch.Size([1, 2, 4, 16])
    """
    check_tensors(query=query, key=key, value=value)
    name = "scaled_dot_product_attention"
    if attn_mask is not None:
        refuse(name, "attn_mask")
    if dropout_p:
        refuse(name, "dropout_p")
    options = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    if query.is_meta:
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, **options)  # type: ignore[arg-type]
    query, key, value = in_autocast(name, query, key, value)
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise ValueError("query, key, value: expected shape [..., H, L, E] or [L, E], got fewer dimensions")
    before = shared_shape("query, key, value", "batches", *(one.shape[:-3] for one in (query, key, value)))
    q, k, v = (in_four_dims(one, before) for one in (query, key, value))
    if k.shape[1] != v.shape[1] or k.shape[2] != v.shape[2]:
        raise ValueError(f"value: expected as many heads and rows as key of {tuple(key.shape)}, got {tuple(value.shape)}")
    if not enable_gqa:  # one head of keys may stand for all, as everywhere else where shapes broadcast
        heads = shared_shape("query, key", "heads", q.shape[1:2], k.shape[1:2])[0]
        q, k, v = (one.expand(-1, heads, -1, -1) for one in (q, k, v))
    size, width = q.shape[3], v.shape[3]
    scale = max(size, 1) ** -0.5 if scale is None and width > size else scale  # of no numbers all products are zero
    q, k, v = (as_wide_as(one, max(size, width)) for one in (q, k, v))
    check_attention(q, k, v, enable_gqa)
    check_attention_scale(scale)
    mask = attention_mask(is_causal, None, "upper_left")
    deterministic = torch.are_deterministic_algorithms_enabled()
    if is_transformed(q, k, v):
        q, scale = positive_scale(q, scale)
        out = AttentionTransformed.apply(q, k, v, tuple(mask), scale, deterministic)[0]
    elif torch.compiler.is_compiling():
        q, scale = positive_scale(q, scale)
        out = attention_operator(q, k, v, None, None, *mask, scale, deterministic)[0]
    else:
        out = attention_apply(q, k, v, None, None, mask, scale, False)[0]
    out = out if width >= size else out[..., :width]
    return out.reshape(*before, *(out.shape[2:] if query.ndim == 2 else out.shape[1:]))
