"""The operators of `attention` and `attention_packed`, which are one: documents in one row are a batch of one."""

import torch

from kernels.attention.arguments import attention_mask, check_attention, check_attention_scale, check_flag, check_packed
from kernels.attention.attention_packed import as_batch
from kernels.attention.gradient import NO_SECOND_GRADIENT, positive_scale
from kernels.attention.launch import AttentionMask, attention_backward, attention_forward, empty_rows_like, side_by_side
from kernels.common.arguments import check_float_tensor
from kernels.operators.register import of_shapes, operator

MASK = "int left, int right, bool lower_right, float? scale, bool deterministic"


def run_attention(q, k, v, q_starts, k_starts, left, right, lower_right, scale, deterministic):
    return attention_forward(q, k, v, q_starts, k_starts, AttentionMask(left, right, lower_right), scale)


def fake_attention(q, k, v, q_starts, k_starts, left, right, lower_right, scale, deterministic):
    check_float_tensor("q", q)
    return empty_rows_like(side_by_side(q)), q.new_empty(q.shape[:3], dtype=torch.float32)


def run_attention_backward(q, k, v, out, lse, dout, dlse, q_starts, k_starts, left, right, lower_right, scale, deterministic):
    mask = AttentionMask(left, right, lower_right)
    return attention_backward(q, k, v, out, lse, dout, dlse, q_starts, k_starts, mask, scale, deterministic)


def fake_attention_backward(q, k, v, *_):
    return tuple(empty_rows_like(side_by_side(x)) for x in (q, k, v))


def refuse_second_gradient(*_):
    raise NotImplementedError(NO_SECOND_GRADIENT)


attention_backward_operator = operator(
    "attention_backward(Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, Tensor dout, Tensor? dlse, Tensor? q_starts, "
    f"Tensor? k_starts, {MASK}) -> (Tensor, Tensor, Tensor)",
    run_attention_backward,
    fake_attention_backward,
    refuse_second_gradient,
)


def keep_attention(ctx, inputs, output) -> None:
    q, k, v, q_starts, k_starts, *ctx.mask = inputs
    ctx.save_for_backward(q, k, v, *output, q_starts, k_starts)


def backward_attention(ctx, dout, dlse):
    q, k, v, out, lse, q_starts, k_starts = ctx.saved_tensors
    gradients = attention_backward_operator(q, k, v, out, lse, dout, dlse, q_starts, k_starts, *ctx.mask)
    return *gradients, None, None, None, None, None, None, None


attention_operator = operator(
    f"attention(Tensor q, Tensor k, Tensor v, Tensor? q_starts, Tensor? k_starts, {MASK}) -> (Tensor, Tensor)",
    run_attention,
    fake_attention,
    backward_attention,
    keep_attention,
)


def attention_call(q, k, v, starts, mask, scale, deterministic, return_lse):
    check_attention_scale(scale)
    check_flag("deterministic", deterministic)
    check_flag("return_lse", return_lse)
    q, scale = positive_scale(q, scale)
    deterministic = deterministic or torch.are_deterministic_algorithms_enabled()
    return attention_operator(q, k, v, *starts, *mask, scale, deterministic)


def attention_in_graph(
    q, k, v, is_causal=False, scale=None, enable_gqa=False, *,
    window=None, align="upper_left", deterministic=False, return_lse=False,
):  # fmt: skip
    of_shapes(check_attention, q, k, v, enable_gqa)
    mask = attention_mask(is_causal, window, align)
    out, lse = attention_call(q, k, v, (None, None), mask, scale, deterministic, return_lse)
    return (out, lse) if return_lse else out


def attention_packed_in_graph(
    q, k, v, cu_seqlens_q, cu_seqlens_k, is_causal=False, scale=None, enable_gqa=False, *,
    window=None, align="upper_left", deterministic=False, return_lse=False,
):  # fmt: skip
    of_shapes(check_packed, q, k, v, cu_seqlens_q, cu_seqlens_k, enable_gqa)
    mask = attention_mask(is_causal, window, align)
    starts, (q, k, v) = (cu_seqlens_q.contiguous(), cu_seqlens_k.contiguous()), (as_batch(x) for x in (q, k, v))
    out, lse = attention_call(q, k, v, starts, mask, scale, deterministic, return_lse)
    out = out.squeeze(0).transpose(0, 1)
    return (out, lse.squeeze(0)) if return_lse else out
