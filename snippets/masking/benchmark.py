"""Time one negation with a mask, without, and with a mask for the last program only, at sizes that 16 divides and others."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark


@triton.jit
def masked_negate_kernel(x_ptr, out_ptr, n_elements, MASK: tl.constexpr, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    if SPLIT:
        if start + BLOCK <= n_elements:
            tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets))
        else:
            mask = offsets < n_elements
            tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets, mask=mask), mask=mask)
    else:
        mask = offsets < n_elements if MASK else None
        tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets, mask=mask), mask=mask)


def negate(x, masked=True, split=False):
    out = torch.empty_like(x)
    masked_negate_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), masked, split, BLOCK=1024)
    return out


benchmark = Benchmark()
for dtype in (torch.float32, torch.bfloat16):
    for n in (2**24, 2**24 + 1, 2**28, 2**28 + 1):
        x = torch.randn(n, device="cuda").to(dtype)
        ways = {"masked": lambda: negate(x), "split": lambda: negate(x, split=True), "eager": lambda: -x}
        if n % 1024 == 0:
            ways["maskless"] = lambda: negate(x, masked=False)
        benchmark.case("negate", "fwd", str(n), dtype, 2 * x.nbytes, n, ways, -x)
benchmark.finish()
