"""Time the matrix product alone, and with the operations before it: the bound on what fusing them can save."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F

from kernels.benchmark import Benchmark

# --8<-- [start:parts]
benchmark = Benchmark()
for n in (4096, 16384):
    x = torch.randn(8192, 4096, device="cuda").bfloat16()
    weight = torch.randn(n, 4096, device="cuda").div(64).bfloat16()
    bias = torch.randn(n, device="cuda").bfloat16()
    parts = {
        "norm": lambda: F.layer_norm(x, (4096,)),
        "matmul": lambda: F.linear(x, weight),
        "linear": lambda: F.linear(x, weight, bias),
        "norm_linear": lambda: F.linear(F.layer_norm(x, (4096,)), weight, bias),
    }
    for name, part in parts.items():
        right = x.double()
        right = F.layer_norm(right, (4096,)) if "norm" in name else right
        right = right @ weight.double().T if name != "norm" else right
        right = right + bias.double() if "linear" in name else right
        moved = x.nbytes + right.numel() * 2 + (weight.nbytes if name != "norm" else 0)
        flops = 2 * weight.numel() * 8192 if name != "norm" else None
        benchmark.case(f"mlp_{name}", "fwd", f"8192x4096x{n}", x.dtype, moved, flops, {"eager": part}, right)
benchmark.finish()
# --8<-- [end:parts]
