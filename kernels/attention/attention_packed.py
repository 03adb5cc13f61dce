"""Attention within each of several documents that lie one after another, without padding and without a mask in memory.

    out[i] = sum_j w[i, j] v[j]  over the keys j of the document of query i that are open to it

The kernels are those of `kernels.attention`. A program finds its document itself, so the host never waits for the lengths.
Documents of L and S rows take the flops and bytes that they would take alone: 4LSD forward and 10LSD backward a head.

Source: T. Dao, "FlashAttention-2", arXiv:2307.08691.
"""

import torch

from kernels.attention.arguments import attention_mask, check_attention_scale, check_flag, check_packed
from kernels.attention.attention import attention_reference
from kernels.attention.gradient import attention_apply


def as_batch(x: torch.Tensor) -> torch.Tensor:
    """[T, H, D] as [1, H, T, D]."""
    return x.transpose(0, 1).unsqueeze(0)


def attention_packed(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: tuple[int | None, int | None] | None = None,
    align: str = "upper_left",
    deterministic: bool = False,
    return_lse: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Attention within each of several documents, whose rows lie one after another.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        q = torch.zeros(5, 1, 16, device=device)  # equal scores: a mean of what is seen
        v = torch.arange(5.0, device=device).reshape(5, 1, 1).expand_as(q)
        starts = torch.tensor([0, 2, 5], device=device)  # a document of two rows, one of three
        print(kernels.attention_packed(q, q, v, starts, starts)[:, 0, 0].cpu())
        #> tensor([0.5000, 0.5000, 3.0000, 3.0000, 3.0000])
        ```

    Args:
        q: The queries of all documents, of shape [T, H, D]: T rows, H heads, D numbers, from 1 to 256; float32, float16 or
            bfloat16. Any strides.
        k: The keys of all documents, of shape [S, K, D] and of the dtype of `q`; K is H, or divides it where `enable_gqa` says
            so.
        v: The values, of the shape and dtype of `k`.
        cu_seqlens_q: Where in `q` each document starts, and where the last one ends: 0 first, and no number below the one
            before; int32 or int64. Rows past the end are no document's; they get zeros.
        cu_seqlens_k: The same for `k` and `v`, of as many documents.
        is_causal: Whether a query sees no key past its document's diagonal: `window` with 0 on its right.
        scale: The factor of the products of queries and keys; 1 / sqrt(D) unless given.
        enable_gqa: Whether H / K neighboring heads of queries may share one of keys and values.
        window: How many keys before and after the diagonal a query sees besides the one on it, each a number from 0 on, or
            None for all.
        align: Where the diagonal of a document lies if it has more keys than queries, or fewer: from its `upper_left` corner on
            or through the `lower_right` one.
        deterministic: Accepted, and without effect: gradients are the same to the last bit every time either way.
        return_lse: Whether to return the log-sum-exp of each query's scores as well.

    Returns:
        The output, of the shape and dtype of `q`; with `return_lse` also the log-sum-exp, of shape [H, T] in float32. A query
            without an open key gets zeros, and a log-sum-exp of -inf.

    Raises:
        TypeError: An argument is of another type, or the dtypes of the tensors differ.
        ValueError: The shapes do not fit together, a head or a sequence is too long, the devices differ, `window`, `align` or
            `scale` is out of range, or a CPU tensor came while Triton's interpreter is off. What numbers the two tensors of
            starts hold is not looked at, for that would wait for the GPU; wrong ones give wrong results, within the tensors.

    Differentiable once, the log-sum-exp included; a second derivative is refused. A kernel reads and writes no other memory
    than that of the tensors, whatever the starts.

    Bytes:
        As for `kernels.attention`, of each document.

    Flops:
        4LSD a head forward and 10LSD backward for a document of L queries and S keys, for causal masks about half.

    Source:
        T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023 (arXiv:2307.08691).
    """
    check_packed(q, k, v, cu_seqlens_q, cu_seqlens_k, enable_gqa)
    mask = attention_mask(is_causal, window, align)
    check_attention_scale(scale)
    check_flag("deterministic", deterministic)
    check_flag("return_lse", return_lse)
    starts = cu_seqlens_q.contiguous(), cu_seqlens_k.contiguous()
    out, lse = attention_apply(as_batch(q), as_batch(k), as_batch(v), *starts, mask, scale, deterministic)
    out = out.squeeze(0).transpose(0, 1)
    return (out, lse.squeeze(0)) if return_lse else out


def attention_packed_reference(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: tuple[int | None, int | None] | None = None,
    align: str = "upper_left",
    deterministic: bool = False,
    return_lse: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """The same operation in plain PyTorch, of any dtype: one document after another."""
    q_ends, k_ends = cu_seqlens_q.tolist(), cu_seqlens_k.tolist()
    out, lse = torch.zeros_like(q), q.new_full((q.shape[1], q.shape[0]), -torch.inf)
    for (first, last), (k_first, k_last) in zip(
        zip(q_ends, q_ends[1:], strict=False), zip(k_ends, k_ends[1:], strict=False), strict=True
    ):
        queries, keys, values = q[first:last], k[k_first:k_last], v[k_first:k_last]
        queries, keys, values = (part.transpose(0, 1).unsqueeze(0) for part in (queries, keys, values))
        found, found_lse = attention_reference(
            queries, keys, values, is_causal, scale, enable_gqa, window=window, align=align, return_lse=True
        )
        out = out.index_copy(0, torch.arange(first, last, device=q.device), found.squeeze(0).transpose(0, 1))
        lse = lse.index_copy(1, torch.arange(first, last, device=q.device), found_lse.squeeze(0))
    return (out, lse) if return_lse else out
