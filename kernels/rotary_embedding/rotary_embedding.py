"""Rotary position embedding (RoPE): turn pairs of a query's or key's numbers by an angle that grows with the position.

    out[i] = x[i] cos[i] - x[i + D/2] sin[i],    out[i + D/2] = x[i + D/2] cos[i] + x[i] sin[i],    i < D/2

The gradient is the rotation by minus the angle, so the backward pass is the same kernel with the sine negated. Queries
and keys go through one launch. For n numbers of e bytes in both together it reads ne bytes and writes ne, besides the
tables, and does 3n floating-point operations.
"""

import torch

from kernels.common.arguments import FLOAT_DTYPES, check_float_tensor, check_same_device, on_device_of
from kernels.rotary_embedding.rotate_pairs import rotary_embedding_launch


def rotary_embedding_forward(q, k, cos, sin, inverse=False):
    if q.is_neg() or q.stride()[3] != 1:
        q = q.resolve_neg().contiguous()
    if k.is_neg() or k.stride()[3] != 1:
        k = k.resolve_neg().contiguous()
    q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    if q.numel() or k.numel():
        with on_device_of(q):
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

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        q = torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]], device=device)  # one head, two positions
        cos = torch.tensor([[1.0], [0.0]], device=device)  # the second is turned by a right angle
        sin = torch.tensor([[0.0], [1.0]], device=device)
        turned, _ = kernels.rotary_embedding(q, q, cos, sin)
        print(turned[0, 0].tolist())
        #> [[1.0, 0.0], [0.0, 1.0]]
        ```

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
        TypeError: An argument is not a tensor or has another dtype, or the dtypes of `q` and `k` differ.
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
    check_rotary_tensors(q, k, cos, sin)
    check_rotary_shapes(q, k, cos, sin)
    if cos.is_neg() or cos.stride()[-1] != 1:
        cos = cos.resolve_neg().contiguous()
    if sin.is_neg() or sin.stride()[-1] != 1:
        sin = sin.resolve_neg().contiguous()
    if torch.is_grad_enabled() and (q.requires_grad or k.requires_grad):
        return RotaryEmbedding.apply(q, k, cos, sin, False)
    return rotary_embedding_forward(q, k, cos, sin)


def check_rotary_tensors(q, k, cos, sin) -> None:
    """Raise unless these are tensors of floats on one device."""
    check_float_tensor("q", q)
    device = q.device
    for name, tensor in (("k", k), ("cos", cos), ("sin", sin)):
        if not (isinstance(tensor, torch.Tensor) and tensor.dtype in FLOAT_DTYPES and tensor.device == device):
            check_float_tensor(name, tensor)  # says what is wrong with it
            check_same_device(name, tensor, "q", q)


def check_rotary_shapes(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> None:
    """Raise unless queries, keys and tables fit together."""
    if q.ndim != 4 or q.shape[3] % 2:
        raise ValueError(f"q: expected shape [B, H, S, D] with D even, got {tuple(q.shape)}")
    batches, _, tokens, width = q.shape
    k_batches, _, k_tokens, k_width = k.shape if k.ndim == 4 else (-1, 0, 0, 0)
    if k_batches != batches or k_tokens != tokens or k_width != width:
        raise ValueError(f"k: expected shape [{batches}, K, {tokens}, {width}] beside q's {tuple(q.shape)}, got {tuple(k.shape)}")
    if k.dtype != q.dtype:
        raise TypeError(f"k: expected dtype {q.dtype}, the dtype of q, got {k.dtype}".replace("torch.", ""))
    shape = cos.shape
    batch, rows, columns = (1, *shape) if len(shape) == 2 else shape if len(shape) == 3 else (0, -1, 0)
    if batch != 1 and batch != batches or rows != tokens or columns != width // 2 and columns != width:
        wanted = f"[{tokens}, {width // 2}] or [{tokens}, {width}], or a batch of those"
        raise ValueError(f"cos: expected shape {wanted}, got {tuple(cos.shape)}")
    if sin.shape != shape:
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
