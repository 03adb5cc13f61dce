"""Attention at 48 drawn shapes, forward and backward, beside cuDNN and PyTorch's flash attention."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

from kernels.attention import attention
from kernels.tools.drawn import Drawn, draw_heads


def by(backend, is_causal):
    """PyTorch's attention by one of its ways."""

    def function(q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal, enable_gqa=q.shape[1] != k.shape[1])

    return function


def exact(q, k, v, is_causal):
    """As many heads at a time as their scores leave room for, which are computed again on the way back."""
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1).flatten(0, 1) for x in (k, v))
    heads = q.flatten(0, 1)
    some = max(1, 2**28 // q.shape[2] ** 2)
    parts = [
        checkpoint(by(SDPBackend.MATH, is_causal), *(x[at : at + some, None] for x in (heads, k, v)), use_reentrant=False)
        for at in range(0, len(heads), some)
    ]
    return torch.cat(parts).view_as(q)


drawn = Drawn("attention")
for case in drawn.each(draw_heads(drawn.seed)):
    q, k, v = (
        torch.randn(case.batches, heads, case.tokens, case.width, device="cuda").to(case.dtype)
        for heads in (case.heads, case.k_heads, case.k_heads)
    )
    pairs = case.tokens * (case.tokens + 1) // 2 if case.is_causal else case.tokens**2
    flops, moved = 4 * case.batches * case.heads * pairs * case.width, 2 * (q.nbytes + k.nbytes)
    functions = {
        "blockwise": lambda q, k, v, c=case: attention(q, k, v, c.is_causal, enable_gqa=c.heads != c.k_heads),
        "exact": lambda q, k, v, c=case: exact(q, k, v, c.is_causal),
        "flash": by(SDPBackend.FLASH_ATTENTION, case.is_causal),
        "cudnn": by(SDPBackend.CUDNN_ATTENTION, case.is_causal),
    }
    drawn.both(case, functions, (q, k, v), (moved, 2 * moved), flops=(flops, 5 * flops // 2))
drawn.finish()
