"""Layer norm at 48 drawn shapes, forward and backward, beside PyTorch eager, torch.compile and Liger-Kernel."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

import torch.nn.functional as F

from kernels.norm import layer_norm
from kernels.tools.drawn import Drawn, draw_rows

try:
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction
except ImportError:
    print("liger-kernel is not installed: it is left out")
    LigerLayerNormFunction = None

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here


def plain(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


drawn = Drawn("layernorm")
for case in drawn.each(draw_rows(drawn.seed)):
    x = torch.randn(case.rows, case.columns, device="cuda").to(case.dtype)
    weight, bias = (torch.randn(case.columns, device="cuda").to(case.dtype) for _ in range(2))
    functions = {"blockwise": layer_norm, "eager": plain, "compile": torch.compile(plain, dynamic=False)}
    if LigerLayerNormFunction:
        functions["liger"] = lambda x, weight, bias: LigerLayerNormFunction.apply(x, weight, bias, 1e-5)
    drawn.both(case, functions, (x, weight, bias), (2 * x.nbytes, 3 * x.nbytes))
drawn.finish()
