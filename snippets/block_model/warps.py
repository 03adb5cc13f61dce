"""Time one element-wise kernel with blocks of three lengths and one to eight warps."""
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
def double_all_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


def double(x: torch.Tensor, block: int, warps: int) -> torch.Tensor:
    out = torch.empty_like(x)
    double_all_kernel[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block, num_warps=warps)
    return out


benchmark = Benchmark()
x = torch.randn(2**26, device="cuda")
implementations = {
    f"block_{block}_warps_{warps}": lambda block=block, warps=warps: double(x, block, warps)
    for block in (64, 256, 1024, 4096)
    for warps in (1, 2, 4, 8)
}
benchmark.case("double", "fwd", str(2**26), x.dtype, 2 * x.nbytes, x.numel(), implementations, 2.0 * x.double())
benchmark.finish()
