"""Two passes, each at the memory's limit, beside one pass that moves half of the bytes."""
# needs: cuda
# counters: slow mended
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import keep
from snippets.profiling.beside import beside


# --8<-- [start:kernel]
@triton.jit
def times_plus_kernel(x_ptr, y_ptr, a, b, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, a * x + b, mask=offsets < n)
# --8<-- [end:kernel]


# --8<-- [start:ways]
x = torch.randn(2**26, device="cuda")
between, y = torch.empty_like(x), torch.empty_like(x)
grid = (triton.cdiv(x.numel(), 1024),)


def slow():
    times_plus_kernel[grid](x, between, 3.0, 0.0, x.numel(), BLOCK=1024)
    times_plus_kernel[grid](between, y, 1.0, 1.0, x.numel(), BLOCK=1024)
    return y


def mended():
    times_plus_kernel[grid](x, y, 3.0, 1.0, x.numel(), BLOCK=1024)
    return y
# --8<-- [end:ways]


keep(figures=beside({"slow": slow, "mended": mended}, 3 * x + 1, 2 * x.nbytes))
