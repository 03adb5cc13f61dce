"""The same tiles in bfloat16: tl.dot now goes to the tensor cores."""
# counters: cores eager
# counters-also: everything
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark, keep


# --8<-- [start:kernel]
@triton.jit
def cores_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # This program owns one tile of c.
    pid_n = tl.program_id(0).to(tl.int64)
    pid_m = tl.program_id(1).to(tl.int64)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]  # [BLOCK_K, BLOCK_N]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        a_mask = (rows < M)[:, None] & (inner < K - start)[None, :]
        b_mask = (inner < K - start)[:, None] & (columns < N)[None, :]
        a = tl.load(a_ptrs, mask=a_mask, other=0.0)
        b = tl.load(b_ptrs, mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)  # [BLOCK_M, BLOCK_N]
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    c_ptrs = c_ptr + rows[:, None] * N + columns[None, :]
    tl.store(c_ptrs, total, mask=(rows < M)[:, None] & (columns < N)[None, :])


def on_cores(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(N, 128), triton.cdiv(M, 128))
    sides = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}
    options = {"num_warps": 8, "num_stages": 1}
    cores_matmul_kernel[grid](a, b, c, M, N, K, **sides, **options)
    return c
# --8<-- [end:kernel]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
# The interpreter multiplies bfloat16 wrongly, so a CPU takes float16.
dtype = torch.bfloat16 if device == "cuda" else torch.float16
a = torch.randint(-4, 5, (300, 200), device=device).to(dtype)
b = torch.randint(-4, 5, (200, 520), device=device).to(dtype)
expected = (a.float() @ b.float()).to(dtype)
print("same as PyTorch:", torch.equal(on_cores(a, b), expected))
#> same as PyTorch: True
# --8<-- [end:check]

if device == "cuda":
    torch.manual_seed(0)
    a, b = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
    ways = {"cores": lambda: on_cores(a, b), "eager": lambda: a @ b}
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        benchmark = Benchmark()
        moved = a.nbytes + b.nbytes + 8192 * 8192 * a.element_size()
        flops, expected = 2 * 8192 * 8192 * 8192, a.double() @ b.double()
        benchmark.case("matmul_cores", "fwd", "8192x8192x8192", a.dtype, moved, flops, ways, expected)
        sides = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}
        options = {"num_warps": 8, "num_stages": 1}
        made = cores_matmul_kernel[(64, 64)](a, b, torch.empty_like(a), 8192, 8192, 8192, **sides, **options)
        figures = {word: made.asm["ptx"].count(word) for word in ("wgmma.mma_async", "mma.sync", "fma.rn.f32")}
        print(figures)
        figures = {word.replace(".", "_"): count for word, count in figures.items()}
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
