"""The operator of `rotary_embedding`, which is its own gradient with the angles negated."""

import torch

from kernels.operators.register import operator
from kernels.rotary_embedding.rotary_embedding import check_rotary_shapes, check_rotary_tensors, rotary_embedding_forward


def rotary_tables(q, k, cos, sin):
    """The tables as the kernel takes them: with rows whose numbers lie side by side."""
    check_rotary_tensors(q, k, cos, sin)
    with torch.no_grad():
        check_rotary_shapes(q, k, cos, sin)
    return tuple((table if table.stride(-1) == 1 else table.contiguous()).resolve_neg() for table in (cos, sin))


def run_rotary_embedding(q, k, cos, sin, inverse):
    cos, sin = rotary_tables(q, k, cos, sin)
    return rotary_embedding_forward(q, k, cos, sin, inverse)


def fake_rotary_embedding(q, k, cos, sin, inverse):
    rotary_tables(q, k, cos, sin)
    return tuple(torch.empty_like(x if x.stride(3) == 1 else x.contiguous()) for x in (q, k))


def keep_rotary_embedding(ctx, inputs, output) -> None:
    _, _, cos, sin, ctx.inverse = inputs
    ctx.save_for_backward(cos, sin)


def backward_rotary_embedding(ctx, dq, dk):
    # A rotation is linear: its gradient is the rotation back, whose gradient is the rotation again.
    return *rotary_embedding_operator(dq, dk, *ctx.saved_tensors, not ctx.inverse), None, None, None


rotary_embedding_operator = operator(
    "rotary_embedding(Tensor q, Tensor k, Tensor cos, Tensor sin, bool inverse) -> (Tensor, Tensor)",
    run_rotary_embedding,
    fake_rotary_embedding,
    backward_rotary_embedding,
    keep_rotary_embedding,
)


def rotary_embedding_in_graph(q, k, cos, sin):
    if torch.is_grad_enabled() and (cos.requires_grad or sin.requires_grad):
        raise ValueError("cos, sin: expected tables that require no gradient, got one that does; use detach() or torch.no_grad()")
    return rotary_embedding_operator(q, k, cos, sin, False)
