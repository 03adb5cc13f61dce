"""The same kernel with more stages: the next tiles are on their way while these are multiplied."""
# counters: stages_1 stages_3 wide_3
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
def staged_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns one tile of c.
    tile = tl.program_id(0).to(tl.int64)
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = tile // (GROUP_M * n_columns)  # GROUP_M rows of tiles
    height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)  # the last may have fewer
    place = tile % (GROUP_M * n_columns)
    pid_m, pid_n = group * GROUP_M + place % height, place // height
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
# --8<-- [end:kernel]


# --8<-- [start:launch]
def staged(a, b, num_stages, block_n=128):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, block_n),)
    sides = {"BLOCK_M": 128, "BLOCK_N": block_n, "BLOCK_K": 64, "GROUP_M": 8}
    options = {"num_warps": 8, "num_stages": num_stages}
    staged_matmul_kernel[grid](a, b, c, M, N, K, **sides, **options)
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = torch.bfloat16 if device == "cuda" else torch.float16
a = torch.randint(-4, 5, (300, 200), device=device).to(dtype)
b = torch.randint(-4, 5, (200, 520), device=device).to(dtype)
expected = (a.float() @ b.float()).to(dtype)
for num_stages in (1, 2, 3, 4, 5):
    assert torch.equal(staged(a, b, num_stages), expected)
print("any number of stages gives the same product")
#> any number of stages gives the same product
# --8<-- [end:launch]


def wrong(c, expected):
    """How many elements of all are off by more than rounding can be."""
    near = torch.isclose(c.double(), expected, rtol=1e-2, atol=0.1)
    return int((~near).sum())


if device == "cuda":
    torch.manual_seed(0)
    a, b = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
    ways = {f"stages_{number}": lambda number=number: staged(a, b, number) for number in (1, 2, 3, 4, 5)}
    ways |= {f"wide_{number}": lambda number=number: staged(a, b, number, 256) for number in (3, 4)}
    ways["eager"] = lambda: a @ b
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        benchmark, expected, failed = Benchmark(), a.double() @ b.double(), {}
        for name in list(ways):
            try:
                off = wrong(ways[name](), expected)
                failed |= {name: f"{off} elements are wrong"} if off else {}
            except Exception as error:
                failed[name] = f"{type(error).__name__}: {error}"[:200]
        ways = {name: way for name, way in ways.items() if name not in failed}
        print("failed:", failed or "none")
        moved, flops = a.nbytes + b.nbytes + 8192 * 8192 * a.element_size(), 2 * 8192 * 8192 * 8192
        benchmark.case("matmul_stages", "fwd", "8192x8192x8192", a.dtype, moved, flops, ways, expected)
        figures, sides = {"failed": failed}, {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": 8}
        for warps in (1, 4, 16):  # compiled, and not run
            shape = (a, b, a, 8192, 8192, 8192)
            try:
                made = staged_matmul_kernel.warmup(*shape, **sides, num_warps=warps, num_stages=3, grid=(1,))
                counts = {"wgmma": made.asm["ptx"].count("wgmma.mma_async"), "mma_sync": made.asm["ptx"].count("mma.sync")}
                figures[f"warps_{warps}"] = counts
            except Exception as error:
                failed[f"warps_{warps}"] = f"{type(error).__name__}: {error}"[:200]
        print({name: figures[name] for name in figures if name != "failed"})
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
