"""Time, and let the hardware count the bytes of, kernels with few operations a byte and with many."""
# needs: cuda
# counters: all
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.add import add
from kernels.tools.benchmark import Benchmark
from kernels.softmax import softmax


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, N, TILE: tl.constexpr, STEP: tl.constexpr):
    # This program owns one tile of the product of two N by N matrices.
    rows = tl.program_id(1) * TILE + tl.arange(0, TILE)  # [TILE]
    columns = tl.program_id(0) * TILE + tl.arange(0, TILE)  # [TILE]
    steps = tl.arange(0, STEP)  # [STEP]
    total = tl.zeros((TILE, TILE), tl.float32)  # [TILE, TILE]
    for k in range(0, N, STEP):
        a = tl.load(a_ptr + rows[:, None] * N + (k + steps)[None, :])
        b = tl.load(b_ptr + (k + steps)[:, None] * N + columns[None, :])
        total = tl.dot(a, b, total)  # [TILE, TILE]
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], total)


N, n = 8192, 2**28
a, b = (torch.randn(N, N, device="cuda", dtype=torch.bfloat16) for _ in range(2))
out = torch.empty_like(a)
x, y = (torch.randn(n, device="cuda") for _ in range(2))
rows = torch.randn(32768, 8192, device="cuda", dtype=torch.bfloat16)


def product(tile):
    grid = (N // tile, N // tile)
    product_kernel[grid](a, b, out, N, TILE=tile, STEP=64, num_warps=4 if tile < 128 else 8, num_stages=3)
    return out


matmuls = {f"tile{tile}": lambda tile=tile: product(tile) for tile in (16, 32, 64, 128, 256)}
matmuls["library"] = lambda: torch.mm(a, b, out=out)
if sys.argv[1:]:  # the profiler watches one launch of each, in this order
    for run in (lambda: add(x, y), lambda: softmax(rows), *matmuls.values()):
        run()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        run()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
else:
    benchmark = Benchmark()
    benchmark.case("roofline_add", "fwd", str(n), x.dtype, 3 * x.nbytes, n, {"blockwise": lambda: add(x, y)}, x + y)
    flops, softmaxed = 5 * rows.numel(), torch.softmax(rows.float(), dim=-1)
    once = {"blockwise": lambda: softmax(rows)}
    benchmark.case("roofline_softmax", "fwd", "32768x8192", rows.dtype, 2 * rows.nbytes, flops, once, softmaxed)
    expected = torch.mm(a.float(), b.float())
    benchmark.case("product", "fwd", f"{N}x{N}x{N}", a.dtype, 3 * a.nbytes, 2 * N**3, matmuls, expected)
    benchmark.finish()
