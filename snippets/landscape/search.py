"""Every configuration of one kernel on five shapes: time, registers, spills, shared memory, occupancy, or why it fails."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import ctypes
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, wait

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()  # an empty one, so that everything is compiled

import triton
import triton.language as tl

from kernels.tools.benchmark import alternate, keep, quantiles
from kernels.tools.hardware import programs_that_fit

BEGAN, BUDGET, TO_COMPILE = time.monotonic(), 85, 60  # seconds: for all, and for the compiler's part of it
SHAPES = [(4096, 4096, 4096), (8192, 8192, 512), (1024, 1024, 1024), (512, 512, 16384), (128, 8192, 8192)]


# --8<-- [start:kernel]
@triton.jit
def landscape_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns one tile of c; BLOCK_K divides K.
    tile = tl.program_id(0)
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first = tile // (GROUP_M * n_columns) * GROUP_M
    height = tl.minimum(n_rows - first, GROUP_M)
    inside = tile % (GROUP_M * n_columns)
    pid_m, pid_n = (first + inside % height).to(tl.int64), (inside // height).to(tl.int64)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # [BLOCK_M, 1]
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N]
    inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
    a_ptrs = a_ptr + rows * K + inner[None, :]  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + inner[:, None] * N + columns  # [BLOCK_K, BLOCK_N]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=rows < M, other=0.0)
        b = tl.load(b_ptrs, mask=columns < N, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c_ptr + rows * N + columns, total, mask=(rows < M) & (columns < N))
# --8<-- [end:kernel]


# --8<-- [start:list]
NAMES = ("block_m", "block_n", "block_k", "group_m", "num_warps", "num_stages")
TILES = [(64, 64), (64, 128), (128, 64), (128, 128), (64, 256), (256, 64), (128, 256), (256, 128)]
LIST = [
    (m, n, k, 8, warps, stages)
    for m, n in TILES for k in (32, 64, 128) for warps in (4, 8) for stages in (3, 4)
]
LIST += [(128, 128, 64, 8, 8, 2), (128, 128, 64, 8, 8, 5), (64, 64, 64, 8, 4, 2), (64, 64, 64, 8, 4, 5)]
LIST += [(128, 256, 64, group, 8, 3) for group in (1, 4, 16)]
LIST += [(128, 128, 64, group, 8, 4) for group in (1, 4, 16)]
LIST += [(64, 64, 64, 8, 2, 3), (128, 256, 64, 8, 16, 3), (32, 128, 64, 8, 4, 4), (256, 256, 64, 8, 8, 3)]
# --8<-- [end:list]
EMPTY = ("us", "us_p20", "us_p80", "tflops", "registers", "spills", "shared", "occupancy", "programs", "limit", "compile_s")


def left():
    return BUDGET - (time.monotonic() - BEGAN)


def options(chosen):
    m, n, k, group, warps, stages = chosen
    return {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": group, "num_warps": warps, "num_stages": stages}


def reason(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    return f"{type(error).__name__}: {lines[0 if 'resource' in lines[0] else -1][:160]}"


def compiled_in(chosen, a, b, c):
    """Compile only; what came out, and the seconds that it took."""
    began = time.monotonic()
    try:
        outcome = landscape_kernel.warmup(a, b, c, 4096, 4096, 4096, grid=(1,), **options(chosen))
    except Exception as error:
        outcome = error
    return outcome, time.monotonic() - began


def compile_all():
    """The list through a pool of threads; what is not done in time has no outcome."""
    a, b, c = (torch.empty(16, 16, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    done = {LIST[0]: compiled_in(LIST[0], a, b, c)}  # alone, because the first call sets up what all share
    pool = ThreadPoolExecutor(12)
    futures = {pool.submit(compiled_in, chosen, a, b, c): chosen for chosen in LIST[1:]}
    finished, _ = wait(futures, timeout=TO_COMPILE)
    pool.shutdown(wait=False, cancel_futures=True)
    return done | {futures[future]: future.result() for future in finished if not future.cancelled()}


driver = ctypes.CDLL("libcuda.so.1")
ATTRIBUTES = {"registers": 82, "shared": 81, "reserved": 111, "threads": 39, "programs": 106}


def asked(function, *arguments):
    answer = ctypes.c_int()
    status = function(ctypes.byref(answer), *arguments)
    assert status == 0, f"the driver answers with error {status}"
    return answer.value


limits = {name: asked(driver.cuDeviceGetAttribute, number, 0) for name, number in ATTRIBUTES.items()}


def resources(kernel, warps):
    """What a compiled and loaded kernel takes, and how many of its programs a multiprocessor holds, as the driver says."""
    shared = kernel.metadata.shared
    fit = programs_that_fit(kernel.n_regs, warps, shared, limits)
    function, size = ctypes.c_void_p(kernel.function), ctypes.c_size_t(shared)
    programs = asked(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor, function, 32 * warps, size)
    found = {"registers": kernel.n_regs, "spills": 4 * kernel.n_spills, "shared": shared, "programs": programs}
    return found | {"occupancy": 32 * warps * programs / limits["threads"], "limit": min(fit, key=fit.get)}


def launch(chosen, a, b, c):
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, chosen[0]) * triton.cdiv(n, chosen[1]),)
    return landscape_kernel[grid](a, b, c, m, n, k, **options(chosen))


def tried(shape, outcomes):
    """One row a configuration for one shape, and the library's time."""
    m, n, k = shape
    a, b = torch.randn(m, k, device="cuda").bfloat16(), torch.randn(k, n, device="cuda").bfloat16()
    c, expected = torch.empty(m, n, device="cuda", dtype=torch.bfloat16), a.float() @ b.float()
    rows = []
    for chosen in LIST:
        row = dict(zip(NAMES, chosen, strict=True)) | dict.fromkeys(EMPTY) | {"failure": None}
        rows.append(row)
        outcome, seconds = outcomes.get(chosen, (None, None))
        row["compile_s"] = seconds and round(seconds, 2)
        if outcome is None or left() < 3:
            row["failure"] = "not reached in the time"
            continue
        if isinstance(outcome, Exception):
            row["failure"] = reason(outcome)
            continue
        row["shared"] = outcome.metadata.shared
        try:
            c.fill_(torch.nan)
            row |= resources(launch(chosen, a, b, c), chosen[4])
            torch.cuda.synchronize()
        except Exception as error:
            row["failure"] = reason(error)
            continue
        # An element is off by its rounding, and by the order of k terms of about one.
        if not torch.allclose(c.float(), expected, rtol=0.01, atol=0.01 * k**0.5):
            row["failure"] = "wrong results"
    alive = [(row, chosen) for row, chosen in zip(rows, LIST, strict=True) if not row["failure"]]
    calls = [lambda: torch.mm(a, b, out=c)] + [lambda chosen=chosen: launch(chosen, a, b, c) for _, chosen in alive]
    library, *times = [[round(ms * 1e3, 2) for ms in quantiles(measured)] for measured in alternate(calls, seconds=0.02)]
    for (row, _), (low, middle, high) in zip(alive, times, strict=True):
        row |= {"us_p20": low, "us": middle, "us_p80": high, "tflops": round(2 * m * n * k / middle / 1e6, 1)}
    return {"rows": rows, "library_us": library[1], "flops": 2 * m * n * k}


torch.manual_seed(0)
outcomes = compile_all()
spent = time.monotonic() - BEGAN
print(f"{len(LIST)} configurations, {len(outcomes)} compiled by 12 threads in {spent:.0f} s")
shapes = {}
for shape in SHAPES:
    if left() < 5:
        print(f"no time left for {shape} and what comes after it")
        break
    name = "x".join(str(size) for size in shape)
    try:
        shapes[name] = tried(shape, outcomes)
    except Exception as error:  # an error of the GPU itself; what is done stays
        print(f"{name} and what comes after it: {reason(error)}")
        break
    ranked = sorted((row for row in shapes[name]["rows"] if row["us"]), key=lambda row: row["us"])
    failed = len(LIST) - len(ranked)
    print(f"\n{name}: {len(ranked)} timed, {failed} failed, the library {shapes[name]['library_us']:.1f} us")
    for row in [*ranked[:3], *ranked[-1:]]:
        tile = "x".join(str(row[size]) for size in ("block_m", "block_n", "block_k"))
        took = f"{row['registers']} registers, {row['spills']} bytes spilled, {row['programs']} a multiprocessor"
        how = f"{row['num_warps']} warps, {row['num_stages']} stages, group {row['group_m']}"
        print(f"  {tile:12} {how}: {row['us']:8.1f} us, {row['tflops']:5.0f} TFLOP/s; {took}")
figures = {"shapes": shapes, "limits": limits, "configurations": len(LIST), "compile_seconds": spent}
keep(figures=figures | {"seconds": time.monotonic() - BEGAN, "threads": 12})
sys.stdout.flush()
if len(outcomes) < len(LIST):
    os._exit(0)  # a compilation is still under way, and Python would wait for it
