"""The simplest matrix product: one program computes one element of c, a row of a times a column of b."""
# counters: naive eager
# counters-also: everything
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import Benchmark

# --8<-- [start:kernel]
import torch
import triton
import triton.language as tl


@triton.jit
def naive_matmul_kernel(a_ptr, b_ptr, c_ptr, N, K, BLOCK: tl.constexpr):
    # This program owns one element of c.
    n, m = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK).to(tl.int64)  # [BLOCK]
        row = tl.load(a_ptr + m * K + k, mask=k < K, other=0.0)
        column = tl.load(b_ptr + k * N + n, mask=k < K, other=0.0)
        total += row * column
    tl.store(c_ptr + m * N + n, tl.sum(total, axis=0))


def naive(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    naive_matmul_kernel[(N, M)](a, b, c, N, K, BLOCK=256, num_warps=4)
    return c
# --8<-- [end:kernel]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randint(-4, 5, (20, 300), device=device).float()
b = torch.randint(-4, 5, (300, 25), device=device).float()
print("programs:", 20 * 25, "same as PyTorch:", torch.equal(naive(a, b), a @ b))
#> programs: 500 same as PyTorch: True
# --8<-- [end:check]

if device == "cuda":
    torch.manual_seed(0)
    a, b = (torch.randn(2048, 2048, device="cuda") for _ in range(2))
    ways = {"naive": lambda: naive(a, b), "eager": lambda: a @ b}
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        benchmark = Benchmark()
        moved = a.nbytes + b.nbytes + 2048 * 2048 * a.element_size()
        flops, expected = 2 * 2048 * 2048 * 2048, a.double() @ b.double()
        benchmark.case("matmul_naive", "fwd", "2048x2048x2048", a.dtype, moved, flops, ways, expected)
        benchmark.finish()
