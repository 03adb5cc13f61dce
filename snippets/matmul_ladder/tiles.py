"""Tiles: one program computes a block of c, and every number that it loads is used many times. Full float32."""
# counters: tiles_16 tiles
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
def tiles_matmul_kernel(
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
        total = tl.dot(a, b, total, input_precision="ieee")  # [BLOCK_M, BLOCK_N]
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    c_ptrs = c_ptr + rows[:, None] * N + columns[None, :]
    tl.store(c_ptrs, total, mask=(rows < M)[:, None] & (columns < N)[None, :])


def tiled(a, b, block_m, block_n, block_k, num_warps=4):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(N, block_n), triton.cdiv(M, block_m))
    sides = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k}
    options = {"num_warps": num_warps, "num_stages": 1}
    tiles_matmul_kernel[grid](a, b, c, M, N, K, **sides, **options)
    return c
# --8<-- [end:kernel]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randint(-4, 5, (100, 80), device=device).float()
b = torch.randint(-4, 5, (80, 90), device=device).float()
for block in (16, 32, 64):
    same = torch.equal(tiled(a, b, block, block, 16), a @ b)
    print(f"tiles of {block}, same as PyTorch:", same)
    #> tiles of 16, same as PyTorch: True
    #> tiles of 32, same as PyTorch: True
    #> tiles of 64, same as PyTorch: True
# --8<-- [end:check]

if device == "cuda":
    torch.manual_seed(0)
    a, b = (torch.randn(2048, 2048, device="cuda") for _ in range(2))
    ways = {"tiles_16": lambda: tiled(a, b, 16, 16, 16, 1), "tiles": lambda: tiled(a, b, 64, 64, 16), "eager": lambda: a @ b}
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
        benchmark.case("matmul_tiles", "fwd", "2048x2048x2048", a.dtype, moved, flops, ways, expected)
        sides = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 16}
        options = {"num_warps": 4, "num_stages": 1}
        made = tiles_matmul_kernel[(32, 32)](a, b, torch.empty_like(a), 2048, 2048, 2048, **sides, **options)
        figures = {word: made.asm["ptx"].count(word) for word in ("wgmma.mma_async", "mma.sync", "fma.rn.f32")}
        print(figures)
        figures = {word.replace(".", "_"): count for word, count in figures.items()}
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
