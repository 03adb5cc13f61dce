"""Checks of what attention is given, and the mask that its arguments mean."""

import math

import torch

from kernels.attention.launch import AttentionMask
from kernels.common.arguments import check_float_tensor, check_same_device

WIDEST_HEAD = 256
LONGEST = 2**28


def check_flag(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected a bool, got {type(value).__name__}")


def check_attention_scale(scale: float | None) -> None:
    """Raise unless `scale` is None or a finite number."""
    if scale is None:
        return
    if not isinstance(scale, (int, float, torch.SymFloat, torch.SymInt)) or isinstance(scale, bool):
        raise TypeError(f"scale: expected a float or None, got {type(scale).__name__}")
    if not isinstance(scale, (torch.SymFloat, torch.SymInt)) and not math.isfinite(scale):
        raise ValueError(f"scale: expected a finite number, got {scale}")


def attention_mask(is_causal: bool, window: tuple[int | None, int | None] | None, align: str) -> AttentionMask:
    """What is open to a query.

    Raises:
        TypeError: An argument is of another type.
        ValueError: The window is not two numbers from 0 on, or `align` is not a corner.
    """
    check_flag("is_causal", is_causal)
    if not isinstance(align, str):
        raise TypeError(f"align: expected a str, got {type(align).__name__}")
    if align not in ("upper_left", "lower_right"):
        raise ValueError(f"align: expected 'upper_left' or 'lower_right', got {align!r}")
    left, right = -1, -1
    if window is not None:
        if not isinstance(window, (tuple, list)):
            raise TypeError(f"window: expected a tuple of two or None, got {type(window).__name__}")
        if len(window) != 2:
            raise ValueError(f"window: expected two numbers, left and right, got {len(window)}")
        for side in window:
            if side is not None and (not isinstance(side, (int, torch.SymInt)) or isinstance(side, bool)):
                raise TypeError(f"window: expected two of int or None, got {type(side).__name__}")
            if side is not None and side < 0:
                raise ValueError(f"window: expected numbers from 0 on, or None for no limit, got {side}")
        left, right = (-1 if side is None else side for side in window)
    return AttentionMask(left, 0 if is_causal else right, align == "lower_right")


def check_attention_tensors(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
    """Raise unless the three are tensors of floats of one dtype on one device."""
    check_float_tensor("q", q)
    for name, x in (("k", k), ("v", v)):
        if not (isinstance(x, torch.Tensor) and x.dtype == q.dtype and x.device == q.device):
            check_float_tensor(name, x)
            if x.dtype != q.dtype:
                expected, found = (str(dtype).removeprefix("torch.") for dtype in (q.dtype, x.dtype))
                raise TypeError(f"{name}: expected dtype {expected}, the dtype of q, got {found}")
            check_same_device(name, x, "q", q)


def check_heads(n_heads: int, n_k_heads: int, enable_gqa: bool) -> None:
    """Raise unless each head of queries has its keys."""
    check_flag("enable_gqa", enable_gqa)
    if n_heads == n_k_heads or enable_gqa and n_k_heads and n_heads % n_k_heads == 0:
        return
    if not enable_gqa:
        raise ValueError(f"k: expected {n_heads} heads, as many as q has, got {n_k_heads}; heads are shared with enable_gqa=True")
    raise ValueError(f"k: expected a number of heads that divides the {n_heads} of q, got {n_k_heads}")


def check_lengths(q_length: int, k_length: int, head: int) -> None:
    """Raise unless a kernel can count the rows and hold a head."""
    if not 1 <= head <= WIDEST_HEAD:
        raise ValueError(f"q: expected a head size from 1 to {WIDEST_HEAD}, got {head}")
    for name, length in (("q", q_length), ("k", k_length)):
        if length > LONGEST:
            raise ValueError(f"{name}: expected a length of at most 2**28, got {length}")


def check_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, enable_gqa: bool) -> None:
    """Raise unless queries, keys and values fit together."""
    check_attention_tensors(q, k, v)
    if q.ndim != 4:
        raise ValueError(f"q: expected shape [B, H, L, D], got {tuple(q.shape)}")
    if k.ndim != 4 or k.shape[0] != q.shape[0] or k.shape[3] != q.shape[3]:
        wanted = f"[{q.shape[0]}, K, S, {q.shape[3]}]"
        raise ValueError(f"k: expected shape {wanted} beside q's {tuple(q.shape)}, got {tuple(k.shape)}")
    if v.shape != k.shape:
        raise ValueError(f"v: expected shape {tuple(k.shape)}, the shape of k, got {tuple(v.shape)}")
    check_heads(q.shape[1], k.shape[1], enable_gqa)
    check_lengths(q.shape[2], k.shape[2], q.shape[3])


def check_packed(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    cu_seqlens_k: torch.Tensor,
    enable_gqa: bool,
) -> None:
    """Raise unless queries, keys and values of documents in one row fit together. What the starts say is not looked at."""
    check_attention_tensors(q, k, v)
    if q.ndim != 3:
        raise ValueError(f"q: expected shape [T, H, D], got {tuple(q.shape)}")
    if k.ndim != 3 or k.shape[2] != q.shape[2]:
        raise ValueError(f"k: expected shape [S, K, {q.shape[2]}] beside q's {tuple(q.shape)}, got {tuple(k.shape)}")
    if v.shape != k.shape:
        raise ValueError(f"v: expected shape {tuple(k.shape)}, the shape of k, got {tuple(v.shape)}")
    check_heads(q.shape[1], k.shape[1], enable_gqa)
    check_lengths(q.shape[0], k.shape[0], q.shape[2])
    for name, starts in (("cu_seqlens_q", cu_seqlens_q), ("cu_seqlens_k", cu_seqlens_k)):
        if not isinstance(starts, torch.Tensor):
            raise TypeError(f"{name}: expected a torch.Tensor, got {type(starts).__name__}")
        if starts.dtype not in (torch.int32, torch.int64):
            raise TypeError(f"{name}: expected dtype int32 or int64, got {str(starts.dtype).removeprefix('torch.')}")
        if starts.ndim != 1 or starts.shape[0] < 1:
            raise ValueError(f"{name}: expected shape [documents + 1], got {tuple(starts.shape)}")
        check_same_device(name, starts, "q", q)
    if cu_seqlens_q.shape != cu_seqlens_k.shape:
        expected, found = tuple(cu_seqlens_q.shape), tuple(cu_seqlens_k.shape)
        raise ValueError(f"cu_seqlens_k: expected shape {expected}, the shape of cu_seqlens_q, got {found}")
