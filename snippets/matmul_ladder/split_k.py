"""Few tiles and a long inner dimension: the sum of a tile is dealt out to several programs, and the last adds it up."""
# counters: square_whole square_split skinny_whole skinny_split
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

from kernels.tools.benchmark import Benchmark, keep


# --8<-- [start:kernel]
@triton.jit
def split_matmul_kernel(
    a_ptr, b_ptr, c_ptr, partial_ptr, arrived_ptr, M, N, K, part_length,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # This program owns one tile of c, and part_length of its inner dimension.
    tile, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    n_columns = tl.cdiv(N, BLOCK_N)
    rows = tile // n_columns * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    columns = tile % n_columns * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    first = part * part_length
    last = tl.minimum(first + part_length, K)
    inner = first + tl.arange(0, BLOCK_K)  # [BLOCK_K]
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]  # [BLOCK_K, BLOCK_N]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(first, last, BLOCK_K):
        left = start + tl.arange(0, BLOCK_K) < last
        a = tl.load(a_ptrs, mask=(rows < M)[:, None] & left[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=left[:, None] & (columns < N)[None, :], other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    # The partial sums are laid out as [parts, tiles, BLOCK_M, BLOCK_N].
    n_tiles, n_parts = tl.num_programs(0), tl.num_programs(1)
    places = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    partial_ptrs = partial_ptr + tile * (BLOCK_M * BLOCK_N) + places
    tl.store(partial_ptrs + part * n_tiles * (BLOCK_M * BLOCK_N), total)
    tl.debug_barrier()  # all of the tile is stored before this program reports
    if tl.atomic_add(arrived_ptr + tile, 1, sem="acq_rel") == n_parts - 1:
        # The last to arrive adds up what all have left, always in the same order.
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for _ in range(n_parts):
            total += tl.load(partial_ptrs, cache_modifier=".cg")
            partial_ptrs += n_tiles * (BLOCK_M * BLOCK_N)
        c_ptrs = c_ptr + rows[:, None] * N + columns[None, :]
        tl.store(c_ptrs, total, mask=(rows < M)[:, None] & (columns < N)[None, :])
        tl.store(arrived_ptr + tile, 0)  # as it was found
# --8<-- [end:kernel]


# --8<-- [start:launch]
def split_product(a, b, arrived, parts, block_m, block_n, block_k, num_warps):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    n_tiles = triton.cdiv(M, block_m) * triton.cdiv(N, block_n)
    part_length = triton.cdiv(triton.cdiv(K, block_k), parts) * block_k
    grid = (n_tiles, triton.cdiv(K, part_length))
    partial = torch.empty((grid[1], n_tiles, block_m, block_n), device=a.device)
    sides = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k}
    options = {"num_warps": num_warps, "num_stages": 4}
    split_matmul_kernel[grid](a, b, c, partial, arrived, M, N, K, part_length, **sides, **options)
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = torch.bfloat16 if device == "cuda" else torch.float16
a = torch.randint(-2, 3, (100, 1000), device=device).to(dtype)
b = torch.randint(-2, 3, (1000, 90), device=device).to(dtype)
expected = (a.float() @ b.float()).to(dtype)
arrived = torch.zeros(1024, dtype=torch.int32, device=device)
for parts in (1, 3, 8):
    c = split_product(a, b, arrived, parts, 64, 64, 64, 4)
    print(parts, torch.equal(c, expected), "counters left:", int(arrived.sum()))
    #> 1 True counters left: 0
    #> 3 True counters left: 0
    #> 8 True counters left: 0
# --8<-- [end:launch]


def wrong(c, expected):
    """How many elements of all are off by more than rounding can be."""
    near = torch.isclose(c.double(), expected, rtol=1e-2, atol=0.5)
    return int((~near).sum())


# Of each case the shape, the parts that are tried, the sides of a tile and the warps.
CASES = {
    "square": ((512, 512, 65536), (1, 4, 8, 16), (128, 128, 64, 8)),
    "skinny": ((16, 8192, 8192), (1, 2, 4, 8), (16, 64, 128, 4)),
}
WATCHED = {"whole": 1, "split": 8}
if device == "cuda":
    torch.manual_seed(0)
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        case, way = sys.argv[1].split("_")
        (M, N, K), _, sizes = CASES[case]
        a, b = torch.randn(M, K, device="cuda").bfloat16(), torch.randn(K, N, device="cuda").bfloat16()
        split_product(a, b, arrived, WATCHED[way], *sizes)
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        split_product(a, b, arrived, WATCHED[way], *sizes)
        torch.cuda.profiler.stop()
    else:
        benchmark, failed, same_bits = Benchmark(), {}, {}
        for case, ((M, N, K), tried, sizes) in CASES.items():
            a, b = torch.randn(M, K, device="cuda").bfloat16(), torch.randn(K, N, device="cuda").bfloat16()
            expected = a.double() @ b.double()
            ways = {f"parts_{parts}": lambda parts=parts: split_product(a, b, arrived, parts, *sizes) for parts in tried}
            ways["eager"] = lambda: a @ b
            for name in list(ways):
                try:
                    off = wrong(ways[name](), expected)
                    failed |= {f"{case} {name}": f"{off} elements are wrong"} if off else {}
                except Exception as error:
                    failed[f"{case} {name}"] = f"{type(error).__name__}: {error}"[:200]
            ways = {name: way for name, way in ways.items() if f"{case} {name}" not in failed}
            first = ways["parts_8"]() if "parts_8" in ways else None
            same_bits[case] = first is not None and all(torch.equal(first, ways["parts_8"]()) for _ in range(100))
            moved, flops = a.nbytes + b.nbytes + M * N * a.element_size(), 2 * M * N * K
            benchmark.case("matmul_split", "fwd", f"{M}x{N}x{K}", a.dtype, moved, flops, ways, expected)
        print("failed:", failed or "none", "; a hundred calls gave the same bits:", same_bits)
        figures = {"failed": failed, "same_bits": same_bits}
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
