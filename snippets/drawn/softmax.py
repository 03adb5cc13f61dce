"""Softmax at 48 drawn shapes, forward and backward, beside PyTorch eager, torch.compile and Liger-Kernel."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

from kernels.softmax import softmax
from kernels.tools.drawn import Drawn, draw_rows

try:
    from liger_kernel.transformers.functional import liger_softmax
except ImportError:
    print("liger-kernel is not installed: it is left out")
    liger_softmax = None

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here


def plain(x):
    return torch.softmax(x, dim=-1)


drawn = Drawn("softmax")
for case in drawn.each(draw_rows(drawn.seed)):
    x = torch.randn(case.rows, case.columns, device="cuda").to(case.dtype)
    functions = {"blockwise": softmax, "eager": plain, "compile": torch.compile(plain, dynamic=False)}
    if liger_softmax:
        functions["liger"] = liger_softmax
    drawn.both(case, functions, (x,), (2 * x.nbytes, 3 * x.nbytes))
drawn.finish()
