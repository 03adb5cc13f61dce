"""GEGLU at 48 drawn shapes, forward and backward, beside PyTorch eager, torch.compile and Liger-Kernel."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

import torch.nn.functional as F

from kernels.activations import geglu
from kernels.tools.drawn import Drawn, draw_rows

try:
    from liger_kernel.ops.geglu import LigerGELUMulFunction
except ImportError:
    print("liger-kernel is not installed: it is left out")
    LigerGELUMulFunction = None

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here


def plain(gate, up):
    return F.gelu(gate, approximate="tanh") * up


drawn = Drawn("geglu")
for case in drawn.each(draw_rows(drawn.seed)):
    gate, up = (torch.randn(case.rows, case.columns, device="cuda").to(case.dtype) for _ in range(2))
    functions = {"blockwise": geglu, "eager": plain, "compile": torch.compile(plain, dynamic=False)}
    if LigerGELUMulFunction:
        functions["liger"] = LigerGELUMulFunction.apply
    drawn.both(case, functions, (gate, up), (3 * gate.nbytes, 5 * gate.nbytes))
drawn.finish()
