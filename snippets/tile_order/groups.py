"""One product in six orders of its tiles: checked anywhere and, on a GPU, timed, its bytes counted, its programs watched."""
# counters: group_1 group_2 group_4 group_8 group_16 group_32
# counters-also: everything
import os
import sys
from functools import partial

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
# --8<-- [start:map]
from kernels.matmul.epilogue import matmul_tile
# --8<-- [end:map]


@triton.jit
def nanoseconds():
    return tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)


# --8<-- [start:kernel]
@triton.jit
def ordered_matmul_kernel(
    a_ptr, b_ptr, c_ptr, times_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns one tile of c. The tiles divide the matrices, so nothing is masked.
    program = tl.program_id(0)
    if times_ptr is not None:
        tl.store(times_ptr + 2 * program, nanoseconds())
    pid_m, pid_n = matmul_tile(program, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)  # [BLOCK_M]
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)  # [BLOCK_N]
    inner = tl.arange(0, BLOCK_K).to(tl.int64)  # [BLOCK_K]
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]  # [BLOCK_K, BLOCK_N]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)
    if times_ptr is not None:
        tl.store(times_ptr + 2 * program + 1, nanoseconds())
# --8<-- [end:kernel]


# --8<-- [start:check]
def ordered_matmul(a, b, group_m, tile=(128, 256, 64), times=None, **options):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    sides = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    grid = (M // tile[0] * (N // tile[1]),)
    ordered_matmul_kernel[grid](
        a, b, c, times, M, N, K, **sides, GROUP_M=group_m, **options
    )
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randint(-4, 5, (96, 64), device=device).half()
b = torch.randint(-4, 5, (64, 160), device=device).half()
for group_m in (1, 2, 4):
    c = ordered_matmul(a, b, group_m, tile=(16, 32, 32))
    assert torch.equal(c.float(), a.float() @ b.float())
print("every order gives the same product")
#> every order gives the same product
# --8<-- [end:check]

GROUPS = (1, 2, 4, 8, 16, 32)
SHAPES = [(2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16384, 16384, 4096)]
LAUNCH = {"num_warps": 8, "num_stages": 3}


def matrices(m: int, n: int, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(m, k, device="cuda").bfloat16(), torch.randn(k, n, device="cuda").bfloat16()


def watched(a: torch.Tensor, b: torch.Tensor, group_m: int) -> dict[str, float]:
    """What runs together, seen at the middle of every program: how many programs, in how many rows and columns of tiles."""
    n_rows, n_columns = a.shape[0] // 128, b.shape[1] // 256
    times = torch.zeros(n_rows * n_columns, 2, dtype=torch.int64, device="cuda")
    for _ in range(3):  # the last of three is kept: the first one compiles
        ordered_matmul(a, b, group_m, times=times, **LAUNCH)
    begin, end = times.double().t()
    moments = (begin + end) / 2
    together = (begin[None, :] <= moments[:, None]) & (end[None, :] > moments[:, None])  # [moment, program]
    program = torch.arange(len(begin), device="cuda")
    group, inside = program // (group_m * n_columns), program % (group_m * n_columns)
    row, column = group * group_m + inside % group_m, inside // group_m  # the height of a group divides the rows here
    in_row = torch.nn.functional.one_hot(row, n_rows).double()
    in_column = torch.nn.functional.one_hot(column, n_columns).double()
    rows, columns = ((together.double() @ kind > 0).sum(1) for kind in (in_row, in_column))
    # Where the first programs start and the last ones end, fewer run: the middle half counts.
    middle = slice(len(begin) // 4, 3 * len(begin) // 4)
    means = [kind[middle].double().mean().item() for kind in (together.sum(1), rows, columns)]
    return dict(zip(("programs", "rows", "columns"), (round(mean, 1) for mean in means), strict=True))


if device == "cuda":
    torch.manual_seed(0)
    if sys.argv[1:]:  # the profiler watches one order a run, at two shapes, after a call of each that compiles
        group_m = int(sys.argv[1].removeprefix("group_"))
        inputs = [matrices(*shape) for shape in SHAPES[2:]]
        for a, b in inputs:
            ordered_matmul(a, b, group_m, **LAUNCH)
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        for a, b in inputs:
            ordered_matmul(a, b, group_m, **LAUNCH)
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
    else:
        benchmark = Benchmark()
        for m, n, k in SHAPES:
            a, b = matrices(m, n, k)
            expected = a @ b
            for group_m in GROUPS:  # every element, not only on the whole
                off = (ordered_matmul(a, b, group_m, **LAUNCH).float() - expected.float()).abs()
                assert bool((off <= 0.05 + expected.float().abs() / 64).all()), f"{m}x{n}x{k}: GROUP_M = {group_m} is wrong"
            ways = {f"group_{group_m}": partial(ordered_matmul, a, b, group_m, **LAUNCH) for group_m in GROUPS}
            ways["eager"] = partial(torch.matmul, a, b)
            moved = 2 * (m * k + k * n + m * n)
            benchmark.case("tile_order", "fwd", f"{m}x{n}x{k}", a.dtype, moved, 2 * m * n * k, ways, expected)
        a, b = matrices(*SHAPES[2])
        properties = torch.cuda.get_device_properties(0)
        figures = {"processors": properties.multi_processor_count, "l2_bytes": properties.L2_cache_size}
        figures["watched"] = {f"group_{group_m}": watched(a, b, group_m) for group_m in GROUPS}
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
