"""Which block to begin with: a plain kernel at eight sizes of block."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch
import triton
import triton.language as tl

from kernels.tools.benchmark import keep
from snippets.profiling.beside import beside


# --8<-- [start:kernel]
@triton.jit
def twice_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, 2 * x, mask=offsets < n)
# --8<-- [end:kernel]


x = torch.randn(2**26, device="cuda")
y = torch.empty_like(x)


def doubled(block):
    twice_kernel[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), BLOCK=block)
    return y


ways = {str(block): lambda block=block: doubled(block) for block in (32, 128, 512, 1024, 2048, 4096, 8192, 32768)}
keep(figures=beside(ways, 2 * x, 2 * x.nbytes))
