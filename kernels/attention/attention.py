"""Attention: each query takes a mean of the values, weighed by the softmax of its products with the keys.

    out[i] = sum_j w[i, j] v[j],    w[i, j] = exp(scale q[i] . k[j] - lse[i]),    lse[i] = log sum_j exp(scale q[i] . k[j])

The sums go over the keys that are open to query i. The matrix of weights never is in memory, so bytes grow with the length, and
only flops with its square. For L queries and S keys in heads of D numbers of e bytes, the forward pass reads (L + 2S) De bytes a
head and writes LDe, and does 4LSD floating-point operations, about half of that where causal; the backward pass does 10LSD,
computing the weights again. Long sequences are bound by the tensor cores, a few queries over many keys by the memory.

Source: T. Dao, "FlashAttention-2", arXiv:2307.08691.
"""

import torch

from kernels.attention.arguments import attention_mask, check_attention, check_attention_scale, check_flag
from kernels.attention.gradient import attention_apply


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: tuple[int | None, int | None] | None = None,
    align: str = "upper_left",
    deterministic: bool = False,
    return_lse: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention of queries to keys and values, as `torch.nn.functional.scaled_dot_product_attention`, without a mask in memory.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        q = torch.zeros(1, 1, 4, 16, device=device)  # equal scores: a mean of what is seen
        v = torch.arange(4.0, device=device).reshape(1, 1, 4, 1).expand_as(q)
        print(kernels.attention(q, q, v, is_causal=True)[0, 0, :, 0].cpu())
        #> tensor([0.0000, 0.5000, 1.0000, 1.5000])
        print(kernels.attention(q, q, v, window=(1, 0))[0, 0, :, 0].cpu())  # itself and the key before
        #> tensor([0.0000, 0.5000, 1.5000, 2.5000])
        ```

    Args:
        q: The queries, of shape [B, H, L, D]: B sequences, H heads, L queries of D numbers, from 1 to 256; float32, float16 or
            bfloat16. Any strides: for queries of shape [B, L, H, D], pass `q.transpose(1, 2)`, and nothing is copied.
        k: The keys, of shape [B, K, S, D]: K heads of S keys, of the dtype of `q`; K is H, or divides it where `enable_gqa`
            says so.
        v: The values, of the shape and dtype of `k`.
        is_causal: Whether a query sees no key past the diagonal: `window` with 0 on its right.
        scale: The factor of the products of queries and keys; 1 / sqrt(D) unless given.
        enable_gqa: Whether H / K neighboring heads of queries may share one of keys and values.
        window: How many keys before and after the diagonal a query sees besides the one on it, each a number from 0 on, or
            None for all. For 1024 keys with a token's own among them:
            `attention(q, k, v, is_causal=True, enable_gqa=True, window=(1023, None))`.
        align: Where the diagonal lies if L and S differ: from the `upper_left` corner on, as in PyTorch, or through the
            `lower_right` one, as for queries that follow on keys in a cache.
        deterministic: Whether gradients are the same to the last bit every time, as `torch.use_deterministic_algorithms` asks
            for too. On Hopper GPUs that takes other kernels, which are slower; elsewhere it is so either way.
        return_lse: Whether to return the log-sum-exp of each query's scores as well.

    Returns:
        The output, of the shape and dtype of `q`, and of its layout in memory where that fills it. With `return_lse` also the
            log-sum-exp, of shape [B, H, L] in float32. A query without an open key gets zeros, as in PyTorch with a
            mask that is all False, and a log-sum-exp of -inf.

    Raises:
        TypeError: An argument is of another type, or the dtypes of the tensors differ.
        ValueError: The shapes do not fit together, a head or a sequence is too long, the devices differ, `window`, `align` or
            `scale` is out of range, or a CPU tensor came while Triton's interpreter is off.

    PyTorch's function takes `attn_mask` and `dropout_p` in the fourth and fifth place; this one has neither, so pass what follows
    `v` by name. `window` counts as flash-attn's `window_size` does, with None for its -1; flash-attn lays the diagonal as
    `align="lower_right"` does and takes [B, L, H, D], so pass `x.transpose(1, 2)`. `kernels.nn.SelfAttention(window=1024)` counts
    the token itself: it is `window=(1023, 0)` here.

    Differentiable once, the log-sum-exp included; a second derivative is refused. Sums are in float32, and weights are rounded
    to the dtype of `v` before they are multiplied with it. float32 is multiplied in full, without tensor cores. A NaN in a key
    reaches the queries that it is open to; one in a value may also reach their neighbors, because zero times NaN is NaN.

    A head has at most 256 numbers, a sequence at most 2**28 rows. On Hopper, long sequences in 16 bits take a kernel in Gluon
    where heads have exactly 64, 128 or 256 numbers, and backward 64 or 128; all else takes portable Triton.

    Bytes:
        (2L + 2S K/H) De a head forward, about three times as many backward, and what the cache does not hold is read again.
        Tensors whose last dimension does not lie side by side are copied first.

    Flops:
        4LSD a head forward and 10LSD backward, for causal masks about half; what is done twice where gradients are
        deterministic, two of seven products, is not counted.

    Source:
        T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023 (arXiv:2307.08691).
    """
    check_attention(q, k, v, enable_gqa)
    mask = attention_mask(is_causal, window, align)
    check_attention_scale(scale)
    check_flag("deterministic", deterministic)
    check_flag("return_lse", return_lse)
    out, lse = attention_apply(q, k, v, None, None, mask, scale, deterministic)
    return (out, lse) if return_lse else out


def attention_reference(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: tuple[int | None, int | None] | None = None,
    align: str = "upper_left",
    deterministic: bool = False,
    return_lse: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """The same operation in plain PyTorch, of any dtype: with the matrix of all scores in memory."""
    group = q.shape[1] // max(k.shape[1], 1)
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    scores = q @ k.mT * (q.shape[3] ** -0.5 if scale is None else scale)
    rows, columns = scores.shape[2:]
    left, right = window or (None, None)
    ahead = torch.arange(columns, device=q.device) - torch.arange(rows, device=q.device)[:, None]
    if align == "lower_right":
        ahead = ahead - (columns - rows)
    is_open = torch.ones_like(ahead, dtype=torch.bool)
    if left is not None:
        is_open &= ahead >= -left
    if is_causal:
        right = 0
    if right is not None:
        is_open &= ahead <= right
    scores = scores.masked_fill(~is_open, -torch.inf)
    lse = scores.logsumexp(-1)
    # Where nothing is open, -inf less -inf would be NaN.
    weights = torch.where(is_open, (scores - lse.masked_fill(~is_open.any(-1), 0.0)[..., None]).exp(), 0.0)
    out = weights.to(v.dtype) @ v
    return (out, lse) if return_lse else out
