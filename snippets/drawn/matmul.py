"""Products of half precision at 48 drawn shapes, forward and backward, beside cuBLAS and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

from kernels.matmul import matmul
from kernels.tools.drawn import Drawn, draw_products

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here

drawn = Drawn("mm")
for case in drawn.each(draw_products(drawn.seed)):
    a = torch.randn(case.m, case.k, device="cuda").to(case.dtype)
    b = torch.randn(case.k, case.n, device="cuda").to(case.dtype)
    moved, flops = a.nbytes + b.nbytes + case.m * case.n * a.element_size(), 2 * case.m * case.n * case.k
    functions = {"blockwise": matmul, "eager": torch.matmul, "compile": torch.compile(torch.matmul, dynamic=False)}
    drawn.both(case, functions, (a, b), (moved, 2 * moved), flops=(flops, 2 * flops))
drawn.finish()
