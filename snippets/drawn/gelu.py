"""GELU at 48 drawn shapes, forward and backward, beside PyTorch eager and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

import torch.nn.functional as F

from kernels.activations import gelu
from kernels.tools.drawn import Drawn, draw_rows

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here

drawn = Drawn("gelu_erf")
for case in drawn.each(draw_rows(drawn.seed)):
    x = torch.randn(case.rows, case.columns, device="cuda").to(case.dtype)
    functions = {"blockwise": gelu, "eager": F.gelu, "compile": torch.compile(F.gelu, dynamic=False)}
    drawn.both(case, functions, (x,), (2 * x.nbytes, 3 * x.nbytes))
drawn.finish()
