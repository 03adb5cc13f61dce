"""The last wave: whole tiles for the waves that are full, and what remains dealt out to all programs, in several ways."""
import os
from functools import partial

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark, keep
from kernels.matmul import matmul
from kernels.matmul.epilogue import Epilogue, matmul_tile
from kernels.matmul.plan import MatmulPlan, hopper_plan
from kernels.matmul.dispatch import prepare_launch
from kernels.matmul.configs import GLUON_TILE, NAMES
from snippets.hopper.tail_pieces import pieces_product, tile_descriptor


# --8<-- [start:add]
@triton.jit
def tail_add(
    c_ptr, partial_ptr, unit, M, N, n_whole, n_blocks, n_split, sharers,
    PARTS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr, ROWS: tl.constexpr,
):
    """Add up ROWS rows of a split tile, in the order of the programs that have left their parts."""
    split, inside = unit // (BLOCK_M // ROWS), unit % (BLOCK_M // ROWS) * ROWS + tl.arange(0, ROWS)  # [ROWS]
    first = ((split * n_blocks + 1) * sharers - 1) // (n_split * n_blocks)
    last = ((split + 1) * n_blocks * sharers - 1) // (n_split * n_blocks)
    places = inside[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [ROWS, BLOCK_N]
    total = tl.zeros((ROWS, BLOCK_N), tl.float32)
    for part in tl.static_range(PARTS):
        place = (first + part + split).to(tl.int64) * (BLOCK_M * BLOCK_N)
        total += tl.load(partial_ptr + place + places, mask=first + part <= last, other=0.0, cache_modifier=".cg")
    pid_m, pid_n = matmul_tile(n_whole + split, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows, columns = pid_m * BLOCK_M + inside, pid_n * BLOCK_N + tl.arange(0, BLOCK_N)  # [ROWS], [BLOCK_N]
    offsets = rows.to(tl.int64)[:, None] * N + columns[None, :]  # [ROWS, BLOCK_N]
    tl.store(c_ptr + offsets, total, mask=(rows < M)[:, None] & (columns < N)[None, :])
# --8<-- [end:add]


# --8<-- [start:kernel]
@triton.jit(do_not_specialize=["n_whole", "sharers"])
def tail_kernel(
    a_desc, b_desc, c_desc, c_ptr, partial_ptr, arrived_ptr, M, N, K, n_whole, sharers,
    FINISH: tl.constexpr, PARTS: tl.constexpr, UPCAST: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, ROWS: tl.constexpr,
):
    # This program owns an even share of the terms of the last tiles, and every num_programs-th tile before them.
    pid, n_programs = tl.program_id(0), tl.num_programs(0)
    n_blocks, n_units = tl.cdiv(K, BLOCK_K), BLOCK_M // ROWS
    n_split = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N) - n_whole
    start = tl.minimum(pid, sharers) * (n_split * n_blocks) // sharers
    stop = tl.minimum(pid + 1, sharers) * (n_split * n_blocks) // sharers
    for split in range(start // n_blocks, tl.cdiv(stop, n_blocks)):
        pid_m, pid_n = matmul_tile(n_whole + split, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        begin = tl.maximum(start - split * n_blocks, 0) * BLOCK_K
        end = tl.minimum(stop - split * n_blocks, n_blocks) * BLOCK_K
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(begin, end, BLOCK_K):
            a = a_desc.load([pid_m * BLOCK_M, k])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([k, pid_n * BLOCK_N])  # [BLOCK_K, BLOCK_N]
            if UPCAST:
                a, b = a.to(tl.float32), b.to(tl.float32)
            total = tl.dot(a, b, total)
        # From one part to the next, the program or the tile is another, or both: their sum numbers the parts.
        places = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [BLOCK_M, BLOCK_N]
        tl.store(partial_ptr + (pid + split).to(tl.int64) * (BLOCK_M * BLOCK_N) + places, total)
        if FINISH == "last":
            tl.debug_barrier()  # all of the part is stored before this program reports
            first = ((split * n_blocks + 1) * sharers - 1) // (n_split * n_blocks)  # of those that share this tile
            last = ((split + 1) * n_blocks * sharers - 1) // (n_split * n_blocks)
            if tl.atomic_add(arrived_ptr + split, 1, sem="acq_rel") == last - first:
                for unit in range(split * n_units, (split + 1) * n_units):
                    tail_add(
                        c_ptr, partial_ptr, unit, M, N, n_whole, n_blocks, n_split, sharers,
                        PARTS, BLOCK_M, BLOCK_N, GROUP_M, ROWS,
                    )
                tl.store(arrived_ptr + split, 0)
    if FINISH == "all":
        tl.debug_barrier()
        tl.atomic_add(arrived_ptr, 1, sem="acq_rel")
    for tile in tl.range(pid, n_whole, n_programs, flatten=True):
        pid_m, pid_n = matmul_tile(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([pid_m * BLOCK_M, k])
            b = b_desc.load([k, pid_n * BLOCK_N])
            if UPCAST:
                a, b = a.to(tl.float32), b.to(tl.float32)
            total = tl.dot(a, b, total)
        c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], total.to(c_ptr.dtype.element_ty))
    if FINISH == "all":
        # All parts were stored waves ago, so nobody waits here. All programs run at once, so nobody waits forever.
        arrived, tries = tl.atomic_add(arrived_ptr, 0, sem="acquire"), 0
        while (arrived < n_programs) & (tries < 65536):
            arrived, tries = tl.atomic_add(arrived_ptr, 0, sem="acquire"), tries + 1
        for unit in range(pid, n_split * n_units, n_programs):
            tail_add(
                c_ptr, partial_ptr, unit, M, N, n_whole, n_blocks, n_split, sharers, PARTS, BLOCK_M, BLOCK_N, GROUP_M, ROWS
            )
        if tl.atomic_add(arrived_ptr + 1, 1, sem="acq_rel") == n_programs - 1:
            tl.store(arrived_ptr + tl.arange(0, 2), 0)  # the last to leave makes both counters ready for the next launch


@triton.jit(do_not_specialize=["n_whole", "n_blocks", "n_split", "sharers"])
def tail_add_kernel(
    c_ptr, partial_ptr, M, N, n_whole, n_blocks, n_split, sharers,
    PARTS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr, ROWS: tl.constexpr,
):
    # This program owns ROWS rows of a split tile.
    unit = tl.program_id(0)
    tail_add(
        c_ptr, partial_ptr, unit, M, N, n_whole, n_blocks, n_split, sharers, PARTS, BLOCK_M, BLOCK_N, GROUP_M, ROWS
    )
# --8<-- [end:kernel]


# --8<-- [start:launch]
def tail_product(a, b, programs, finish, parts=None, block_n=256, stages=3):
    """The product, with the sums of the last wave's tiles dealt out to all programs, or to `parts` for each tile."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    n_tiles, n_blocks = triton.cdiv(M, 128) * triton.cdiv(N, block_n), triton.cdiv(K, 64)
    n_split = n_tiles % programs
    sharers = max(min(programs, n_split * n_blocks, n_split * (parts or programs)), 1)
    share = max(n_split * n_blocks // sharers, 1)  # blocks that each of them sums, at least
    parts_left = torch.empty((sharers + n_split) * 128 * block_n, device=a.device)
    descriptors = tile_descriptor(a, 128, 64), tile_descriptor(b, 64, block_n), tile_descriptor(c, 128, block_n)
    sides = {"BLOCK_M": 128, "BLOCK_N": block_n, "GROUP_M": 8, "ROWS": 16, "num_warps": 8}
    sides["PARTS"] = triton.next_power_of_2(max(4, (n_blocks - 1) // share + 2))  # so many a tile, and a few for nothing
    tail_product.kernel = tail_kernel[(programs,)](
        *descriptors, c, parts_left, arrived[finish], M, N, K, n_tiles - n_split, sharers, FINISH=finish, BLOCK_K=64,
        UPCAST=not a.is_cuda, **sides, num_stages=stages, launch_cooperative_grid=finish == "all",
    )
    if finish == "later" and n_split:
        tail_add_kernel[(n_split * 8,)](c, parts_left, M, N, n_tiles - n_split, n_blocks, n_split, sharers, **sides)
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
# Counters, which every launch leaves at zero.
arrived = {finish: torch.zeros(1024, dtype=torch.int32, device=device) for finish in ("all", "last", "later")}
a = torch.randint(-4, 5, (200, 328), device=device).half()
b = torch.randint(-4, 5, (328, 600), device=device).half()
for finish, parts in (("last", None), ("later", None), ("later", 2)):
    print(finish, torch.equal(tail_product(a, b, 4, finish, parts).double(), a.double() @ b.double()))
    #> last True
    #> later True
    #> later True
# --8<-- [end:launch]


def failure(way, expected):
    """What is wrong with a result that is written to memory full of NaN, and with its repetition; or nothing."""
    try:
        torch.full(expected.shape, float("nan"), dtype=torch.bfloat16, device="cuda")  # freed, and given to the result
        c = way()
        off = int((~torch.isclose(c.double(), expected, rtol=1e-2, atol=0.5)).sum())
        return f"{off} elements are wrong" if off else "" if torch.equal(c, way()) else "the bits change"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def by_plan(a, b, plan):
    c, finish = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device), Epilogue()
    prepare_launch(a, b, c, finish, plan)(a, b, c, finish)
    return c


def whole_tiles(a, b, programs):
    """The library's kernel in Triton, also where the library would take the one in Gluon."""
    return by_plan(a, b, hopper_plan(a.shape[0], b.shape[1], "half", programs))


def gluon_tiles(a, b, programs):
    """The one in Gluon, wherever it would be taken."""
    configuration = dict(zip(NAMES, GLUON_TILE, strict=True)) | {"programs": programs}
    return by_plan(a, b, MatmulPlan("gluon", configuration, "It is asked for."))


# Who adds the parts up, or how many pieces a tile has; how many programs share a tile; the columns of a tile; the stages.
FORMS = {
    "all": (tail_product, "all"), "all_2": (tail_product, "all", 2), "all_3": (tail_product, "all", 3),
    "all_4": (tail_product, "all", 4), "last": (tail_product, "last"), "later": (tail_product, "later"),
    "all_128": (tail_product, "all", None, 128, 4), "all_128_4": (tail_product, "all", 4, 128, 4),
    "later_128": (tail_product, "later", None, 128, 4), "pieces_2": (pieces_product, 2), "pieces_4": (pieces_product, 4),
    "pieces_128_4": (pieces_product, 4, 128, 4), "pieces_128_8": (pieces_product, 8, 128, 4),
}

if device == "cuda" and torch.cuda.get_device_capability() == (9, 0):
    programs, failed, taken = torch.cuda.get_device_properties(0).multi_processor_count, {}, {}
    benchmark = Benchmark()
    timed = (1536, 1536, 1536), (3072, 3072, 3072), (4096, 4096, 4096), (6144, 6144, 6144), (8192, 8192, 512)
    for M, N, K in ((1001, 1544, 840), (2304, 2304, 4096), *timed):
        a, b = torch.randn(M, K, device="cuda").bfloat16(), torch.randn(K, N, device="cuda").bfloat16()
        expected = a.double() @ b.double()
        ways = {name: partial(product, a, b, programs, *given) for name, (product, *given) in FORMS.items()}
        ways |= {"whole": lambda: whole_tiles(a, b, programs), "gluon": lambda: gluon_tiles(a, b, programs)}
        ways |= {"blockwise_nn": lambda: matmul(a, b), "eager": lambda: a @ b}
        for name in list(ways):
            if found := failure(ways[name], expected):
                failed[f"{M}x{N}x{K} {name}"] = found
                del ways[name]
            elif name in FORMS:
                made = FORMS[name][0].kernel
                taken[name] = {"registers": made.n_regs, "spills": made.n_spills, "shared_bytes": made.metadata.shared}
        moved, shape = 2 * (M * K + K * N + M * N), f"{M}x{N}x{K}"
        if (M, N, K) in timed:
            benchmark.case("tail", "fwd", shape, a.dtype, moved, 2 * M * N * K, ways, expected)
    print("failed:", failed or "none")
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=taken | {"failed": failed})
