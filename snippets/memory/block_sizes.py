"""One addition with ever larger blocks: what changes, and what does not?"""
# needs: cuda
# counters: all
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.add import add_kernel
from kernels.tools.benchmark import Benchmark

BLOCKS = (32, 128, 512, 1024, 2048, 4096, 8192, 16384)
n = 2**28
x, y = (torch.randn(n, device="cuda") for _ in range(2))
out = torch.empty_like(x)


def added(block):
    compiled = add_kernel[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
    return compiled if sys.argv[1:] else out


if sys.argv[1:]:  # the profiler watches one launch of each, in this order
    for block in BLOCKS:
        added(block)
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        added(block)
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
else:
    benchmark = Benchmark()
    implementations = {f"block{block}": lambda block=block: added(block) for block in BLOCKS}
    benchmark.case("blocked_add", "fwd", str(n), x.dtype, 3 * x.nbytes, n, implementations, x + y)
    benchmark.finish()
