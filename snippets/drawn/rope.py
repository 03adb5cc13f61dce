"""Rotary embedding of 48 drawn shapes, forward and backward, beside PyTorch eager and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

from kernels.rotary_embedding import rotary_embedding
from kernels.rotary_embedding.rotary_embedding import rotary_embedding_reference
from kernels.tools.drawn import Drawn, draw_heads

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here

drawn = Drawn("rope")
for case in drawn.each(draw_heads(drawn.seed, widths=(64, 80, 96, 128))):
    q, k = (
        torch.randn(case.batches, case.tokens, heads, case.width, device="cuda").to(case.dtype).transpose(1, 2)
        for heads in (case.heads, case.k_heads)
    )
    frequencies = 10000.0 ** -torch.linspace(0, 1, case.width // 2, device="cuda")
    angles = torch.outer(torch.arange(case.tokens, device="cuda"), frequencies)
    tables = [torch.cat((t, t), -1)[None].to(case.dtype) for t in (angles.cos(), angles.sin())]
    compiled = torch.compile(rotary_embedding_reference, dynamic=False)
    functions = {"blockwise": rotary_embedding, "eager": rotary_embedding_reference, "compile": compiled}
    moved = 2 * (q.nbytes + k.nbytes)
    drawn.both(case, functions, (q, k, *tables), (moved, moved), differentiable=2)
drawn.finish()
