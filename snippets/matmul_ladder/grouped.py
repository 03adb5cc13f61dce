"""The same tiles in another order: programs that run at one time share what they load through the L2 cache."""
# counters: rows grouped
# counters-also: everything
import os
import sys

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark


# --8<-- [start:kernel]
@triton.jit
def grouped_matmul_kernel(
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


def grouped(a, b, group_m):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
    sides = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP_M": group_m}
    options = {"num_warps": 8, "num_stages": 1}
    grouped_matmul_kernel[grid](a, b, c, M, N, K, **sides, **options)
    return c
# --8<-- [end:kernel]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = torch.bfloat16 if device == "cuda" else torch.float16
a = torch.randint(-4, 5, (300, 200), device=device).to(dtype)
b = torch.randint(-4, 5, (200, 520), device=device).to(dtype)
expected = (a.float() @ b.float()).to(dtype)
for group_m in (1, 2, 8):
    print("GROUP_M", group_m, torch.equal(grouped(a, b, group_m), expected))
    #> GROUP_M 1 True
    #> GROUP_M 2 True
    #> GROUP_M 8 True
# --8<-- [end:check]

if device == "cuda":
    torch.manual_seed(0)
    a, b = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
    # A group of one row is the order of the step before.
    ways = {"rows": lambda: grouped(a, b, 1), "grouped": lambda: grouped(a, b, 8), "eager": lambda: a @ b}
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
        benchmark.case("matmul_grouped", "fwd", "8192x8192x8192", a.dtype, moved, flops, ways, expected)
        benchmark.finish()
