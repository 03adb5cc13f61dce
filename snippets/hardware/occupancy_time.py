"""Time one softmax with different numbers of warps and registers: is the fullest multiprocessor the fastest?"""
# needs: cuda
import sys
from functools import partial

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark
from kernels.softmax.softmax import softmax_kernel

benchmark = Benchmark()
x = torch.randn(8192, 8192, device="cuda")
y = torch.empty_like(x)


def softmax_capped(num_warps, cap):
    options = {"num_warps": num_warps} | ({"maxnreg": cap} if cap else {})
    softmax_kernel[(8192,)](x, y, 8192, 8192, 8192, BLOCK=8192, **options)
    return y


WAYS = [(4, None), (4, 64), (8, None), (8, 48), (8, 32), (16, None), (16, 32), (32, None)]
implementations = {f"warps{w}" + (f"_cap{cap}" if cap else ""): partial(softmax_capped, w, cap) for w, cap in WAYS}
expected = torch.softmax(x.double(), dim=-1)
benchmark.case("capped_softmax", "fwd", "8192x8192", x.dtype, 2 * x.nbytes, 5 * x.numel(), implementations, expected)
benchmark.finish()
