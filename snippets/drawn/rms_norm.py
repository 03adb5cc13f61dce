"""RMS norm at 48 drawn shapes, forward and backward, beside PyTorch eager, torch.compile and Liger-Kernel."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch._functorch.config

import torch.nn.functional as F

from kernels.norm import rms_norm
from kernels.tools.drawn import Drawn, draw_rows

try:
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
except ImportError:
    print("liger-kernel is not installed: it is left out")
    LigerRMSNormFunction = None

torch._functorch.config.donated_buffer = False  # a compiled backward is called more than once here


def plain(x, weight):
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


drawn = Drawn("rmsnorm")
for case in drawn.each(draw_rows(drawn.seed)):
    x = torch.randn(case.rows, case.columns, device="cuda").to(case.dtype)
    weight = torch.randn(case.columns, device="cuda").to(case.dtype)
    functions = {
        "blockwise": lambda x, weight: rms_norm(x, weight, 1e-6),
        "eager": plain,
        "compile": torch.compile(plain, dynamic=False),
    }
    if LigerRMSNormFunction:
        functions["liger"] = lambda x, weight: LigerRMSNormFunction.apply(x, weight, 1e-6, 0.0, "llama", False)
    drawn.both(case, functions, (x, weight), (2 * x.nbytes, 3 * x.nbytes))
drawn.finish()
