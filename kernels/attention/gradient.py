"""The gradient of attention, which cannot be differentiated again."""

import torch

from kernels.attention.launch import AttentionMask, attention_backward, attention_forward

NO_SECOND_GRADIENT = (
    "the gradient of attention cannot be differentiated again; for second derivatives use attention_reference, "
    "which is plain PyTorch"
)


class AttentionGradient(torch.autograd.Function):
    """The gradient itself, as a function that refuses to be differentiated."""

    @staticmethod
    def forward(ctx, *arguments):
        ctx.set_materialize_grads(False)
        return attention_backward(*arguments)

    @staticmethod
    def backward(ctx, *_):
        raise NotImplementedError(NO_SECOND_GRADIENT)


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, q_starts, k_starts, mask, scale, deterministic):
        out, lse = attention_forward(q, k, v, q_starts, k_starts, mask, scale)
        ctx.save_for_backward(q, k, v, out, lse, q_starts, k_starts)
        ctx.mask, ctx.scale, ctx.deterministic = mask, scale, deterministic
        ctx.set_materialize_grads(False)
        return out, lse

    @staticmethod
    def backward(ctx, dout, dlse):
        q, k, v, out, lse, q_starts, k_starts = ctx.saved_tensors
        dout = torch.zeros_like(out) if dout is None else dout
        arguments = (q, k, v, out, lse, dout, dlse, q_starts, k_starts, ctx.mask, ctx.scale, ctx.deterministic)
        gradients = AttentionGradient.apply(*arguments) if torch.is_grad_enabled() else attention_backward(*arguments)
        return *gradients, None, None, None, None, None


def positive_scale(q: torch.Tensor, scale: float | None) -> tuple[torch.Tensor, float | None]:
    """Queries and a scale above 0, as the kernels take it, with the same scores."""
    if scale is None or scale > 0:
        return q, scale
    return (-q, -scale) if scale < 0 else (q * 0, 1.0)


def attention_apply(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    q_starts: torch.Tensor | None,
    k_starts: torch.Tensor | None,
    mask: AttentionMask,
    scale: float | None,
    deterministic: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The output and the log-sum-exp, differentiable where that is wanted."""
    q, scale = positive_scale(q, scale)
    if torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad):
        deterministic = deterministic or torch.are_deterministic_algorithms_enabled()
        return Attention.apply(q, k, v, q_starts, k_starts, mask, scale, deterministic)
    return attention_forward(q, k, v, q_starts, k_starts, mask, scale)
