"""Time every step of the ladder in one run, beside cuBLAS, and check every result in all of its elements.

The kernels are those of the steps, under names of their own.
"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark, keep


@triton.jit
def timed_naive_kernel(a_ptr, b_ptr, c_ptr, N, K, BLOCK: tl.constexpr):
    # This program owns one element of c.
    n, m = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK).to(tl.int64)  # [BLOCK]
        row = tl.load(a_ptr + m * K + k, mask=k < K, other=0.0)
        column = tl.load(b_ptr + k * N + n, mask=k < K, other=0.0)
        total += row * column
    tl.store(c_ptr + m * N + n, tl.sum(total, axis=0))


@triton.jit
def timed_tiles_kernel(
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


@triton.jit
def timed_cores_kernel(
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


@triton.jit
def timed_grouped_kernel(
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


@triton.jit
def timed_descriptor_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns one tile of c. Where each matrix lies is said once.
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    tile = tl.program_id(0)
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = tile // (GROUP_M * n_columns)
    height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
    place = tile % (GROUP_M * n_columns)
    row = (group * GROUP_M + place % height) * BLOCK_M
    column = place // height * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K], zero outside of a
        b = b_desc.load([k, column])  # [BLOCK_K, BLOCK_N]
        total = tl.dot(a, b, total)
    c_desc.store([row, column], total.to(c_ptr.dtype.element_ty))  # nothing outside of c


@triton.jit
def timed_persistent_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns every num_programs-th tile of c.
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first, n_tiles, step = tl.program_id(0), n_rows * n_columns, tl.num_programs(0)
    for tile in tl.range(first, n_tiles, step, flatten=True):
        group = tile // (GROUP_M * n_columns)
        height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
        place = tile % (GROUP_M * n_columns)
        row = (group * GROUP_M + place % height) * BLOCK_M
        column = place // height * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([k, column])  # [BLOCK_K, BLOCK_N]
            total = tl.dot(a, b, total)
        c_desc.store([row, column], total.to(c_ptr.dtype.element_ty))


@triton.jit
def timed_specialized_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    SPECIALIZE: tl.constexpr,
):
    # This program owns every num_programs-th tile of c.
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first, n_tiles, step = tl.program_id(0), n_rows * n_columns, tl.num_programs(0)
    for tile in tl.range(first, n_tiles, step, warp_specialize=SPECIALIZE):
        group = tile // (GROUP_M * n_columns)
        height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
        place = tile % (GROUP_M * n_columns)
        row = (group * GROUP_M + place % height) * BLOCK_M
        column = place // height * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([k, column])  # [BLOCK_K, BLOCK_N]
            total = tl.dot(a, b, total)
        c_desc.store([row, column], total.to(c_ptr.dtype.element_ty))


@triton.jit
def timed_split_kernel(
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


def scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


def step(kernel, a, b, sides, num_warps, num_stages=1, programs=None, **constants):
    """Launch a step's kernel: on a grid of columns and rows of tiles, or, where sides has a group, of tiles in a line."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    rows, columns = triton.cdiv(M, sides[0]), triton.cdiv(N, sides[1])
    sides = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M"), sides, strict=False))
    grid = (columns, rows) if len(sides) == 3 else (min(programs or rows * columns, rows * columns),)
    kernel[grid](a, b, c, M, N, K, **sides, **constants, num_warps=num_warps, num_stages=num_stages)
    return c


def naive(a, b):
    c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    timed_naive_kernel[(b.shape[1], a.shape[0])](a, b, c, b.shape[1], a.shape[1], BLOCK=256, num_warps=4)
    return c


def split(a, b, parts, block_m, block_n, block_k, num_warps):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    n_tiles = triton.cdiv(M, block_m) * triton.cdiv(N, block_n)
    part_length = triton.cdiv(triton.cdiv(K, block_k), parts) * block_k
    grid = (n_tiles, triton.cdiv(K, part_length))
    partial = torch.empty((grid[1], n_tiles, block_m, block_n), device=a.device)
    sides = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k}
    options = {"num_warps": num_warps, "num_stages": 4}
    timed_split_kernel[grid](a, b, c, partial, arrived, M, N, K, part_length, **sides, **options)
    return c


def wrong(c, expected):
    """How many elements of all are off by more than rounding can be."""
    return int((~torch.isclose(c.double(), expected, rtol=1e-2, atol=0.5)).sum())


def time_all(a, b, ways):
    """Time the ways that run and are right, beside cuBLAS; note the others."""
    (M, K), N = a.shape, b.shape[1]
    shape, expected, right = f"{M}x{N}x{K}", a.double() @ b.double(), {}
    for name, way in (ways | {"eager": lambda: a @ b}).items():
        try:
            off = wrong(way(), expected)
            if off:
                failed[f"{shape} {name}"] = f"{off} elements are wrong"
            else:
                right[name] = way
        except Exception as error:
            failed[f"{shape} {name}"] = f"{type(error).__name__}: {error}"[:200]
    moved = a.nbytes + b.nbytes + M * N * a.element_size()
    benchmark.case("matmul_ladder", "fwd", shape, a.dtype, moved, 2 * M * N * K, right, expected)


def random(M, N, K, dtype):
    return torch.randn(M, K, device="cuda", dtype=dtype), torch.randn(K, N, device="cuda", dtype=dtype)


torch.manual_seed(0)
triton.set_allocator(scratch)
benchmark, failed = Benchmark(), {}
arrived = torch.zeros(1024, dtype=torch.int32, device="cuda")
SMS = torch.cuda.get_device_properties(0).multi_processor_count
SQUARE, WIDE = (128, 128, 64), (128, 256, 64, 8)

for side in (2048, 4096):
    a, b = random(side, side, side, torch.float32)
    ways = {"naive": lambda: naive(a, b)} if side == 2048 else {}
    time_all(a, b, ways | {"tiles": lambda: step(timed_tiles_kernel, a, b, (64, 64, 16), 4)})

for M, N, K in ((4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 512)):
    a, b = random(M, N, K, torch.bfloat16)
    first = {
        "cores": lambda: step(timed_cores_kernel, a, b, SQUARE, 8),
        "grouped": lambda: step(timed_grouped_kernel, a, b, (*SQUARE, 8), 8),
        "stages": lambda: step(timed_grouped_kernel, a, b, (*SQUARE, 8), 8, 3),
    }
    last = {
        "wide": lambda: step(timed_grouped_kernel, a, b, WIDE, 8, 3),
        "descriptors": lambda: step(timed_descriptor_kernel, a, b, WIDE, 8, 3),
        "persistent": lambda: step(timed_persistent_kernel, a, b, WIDE, 8, 3, SMS),
        "specialized": lambda: step(timed_specialized_kernel, a, b, WIDE, 4, 3, SMS, SPECIALIZE=True),
    }
    time_all(a, b, last if K == 512 else first | last)

for (M, N, K), sizes in (((512, 512, 65536), (128, 128, 64, 8)), ((16, 8192, 8192), (16, 64, 128, 4))):
    a, b = random(M, N, K, torch.bfloat16)
    time_all(a, b, {"whole": lambda: split(a, b, 1, *sizes), "split": lambda: split(a, b, 8, *sizes)})

print("failed:", failed or "none")
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed})
