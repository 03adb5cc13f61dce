"""One list of configurations of one kernel in four dtypes: which is fastest, which do not start, and how alike the orders are."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import statistics
from concurrent.futures import ThreadPoolExecutor

import triton
import triton.language as tl

from kernels.tools.benchmark import alternate, keep, quantiles

SHAPES = [(4096, 4096, 4096), (512, 512, 16384)]
DTYPES = [torch.bfloat16, torch.float16, torch.float32]
if torch.cuda.get_device_capability() >= (8, 9):
    DTYPES.append(torch.float8_e4m3fn)
else:
    print("float8_e4m3fn: this GPU has no instruction for it")


# --8<-- [start:kernel]
@triton.jit
def typed_landscape_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns one tile of c = a @ b.T; the tile's sides divide the matrices'.
    tile = tl.program_id(0)
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first = tile // (GROUP_M * n_columns) * GROUP_M
    height = tl.minimum(n_rows - first, GROUP_M)
    inside = tile % (GROUP_M * n_columns)
    rows = (first + inside % height).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    columns = (inside // height).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + inner[:, None] + columns[None, :] * K  # [BLOCK_K, BLOCK_N]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)
# --8<-- [end:kernel]


# --8<-- [start:list]
NAMES = ("block_m", "block_n", "block_k", "group_m", "num_warps", "num_stages")
TILES = [(64, 64), (64, 128), (128, 64), (128, 128), (64, 256), (256, 64), (128, 256), (256, 128)]
LIST = [(m, n, k, 8, warps, stages) for m, n in TILES for k in (32, 64, 128) for warps in (4, 8) for stages in (3, 4)]
# --8<-- [end:list]
EMPTY = ("us", "us_p20", "us_p80", "tflops", "registers", "spills", "failure")


def options(chosen):
    m, n, k, group, warps, stages = chosen
    return {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": group, "num_warps": warps, "num_stages": stages}


def of_dtype(rows, columns, dtype):
    return torch.randn(rows, columns, device="cuda").to(dtype)


def result_dtype(dtype):
    return torch.bfloat16 if dtype.itemsize == 1 else dtype


def compiled_in(chosen, dtype):
    """What the compiler made of a configuration, or its error."""
    a, b = torch.empty(16, 16, device="cuda", dtype=dtype), torch.empty(16, 16, device="cuda", dtype=dtype)
    c = torch.empty(16, 16, device="cuda", dtype=result_dtype(dtype))
    try:
        return typed_landscape_kernel.warmup(a, b, c, 4096, 4096, 4096, grid=(1,), **options(chosen))
    except Exception as error:
        return error


def launch(chosen, a, b, c):
    (m, k), n = a.shape, b.shape[0]
    grid = ((m // chosen[0]) * (n // chosen[1]),)
    typed_landscape_kernel[grid](a, b, c, m, n, k, **options(chosen))


def library(a, b, c):
    """cuBLAS, which for float32 may round to TF32 as `tl.dot` does, and takes 8 bits with a scale for each matrix."""
    if a.dtype.itemsize > 1:
        return lambda: torch.mm(a, b.mT, out=c)
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b.mT, one, one, out_dtype=c.dtype, use_fast_accum=True)


def tried(shape, dtype, outcomes):
    """One row a configuration, and the library's time."""
    m, n, k = shape
    a, b = of_dtype(m, k, dtype), of_dtype(n, k, dtype)
    torch.backends.cuda.matmul.allow_tf32 = False
    c, expected = torch.empty(m, n, device="cuda", dtype=result_dtype(dtype)), a.float() @ b.float().mT
    torch.backends.cuda.matmul.allow_tf32 = True
    rows, alive = [], []
    for chosen in LIST:
        outcome = outcomes[chosen]
        row = dict(zip(NAMES, chosen, strict=True)) | dict.fromkeys(EMPTY)
        row["shared"] = None if isinstance(outcome, Exception) else outcome.metadata.shared
        rows.append(row)
        try:
            if isinstance(outcome, Exception):
                raise outcome
            c.fill_(torch.nan)
            launch(chosen, a, b, c)
            torch.cuda.synchronize()
        except Exception as error:
            row["failure"] = f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:160]}"
            continue
        row |= {"registers": outcome.n_regs, "spills": 4 * outcome.n_spills}
        # An element is off by its rounding, and by the order of k terms of about one; 8 bits are added up in fewer digits.
        if torch.allclose(c.float(), expected, rtol=0.01, atol=(0.1 if dtype.itemsize == 1 else 0.01) * k**0.5):
            alive.append((row, chosen))
        else:
            row["failure"] = "wrong results"
    calls = [library(a, b, c), *(lambda chosen=chosen: launch(chosen, a, b, c) for _, chosen in alive)]
    peer, *times = [[round(ms * 1e3, 2) for ms in quantiles(measured)] for measured in alternate(calls, seconds=0.02)]
    for (row, _), (low, middle, high) in zip(alive, times, strict=True):
        row |= {"us_p20": low, "us": middle, "us_p80": high, "tflops": round(2 * m * n * k / middle / 1e6, 1)}
    return {"rows": rows, "library_us": peer[1], "flops": 2 * m * n * k}


def ranks(values):
    """The place of each in their order; equal ones in the order of the list."""
    ordered = sorted(range(len(values)), key=values.__getitem__)
    return [ordered.index(place) for place in range(len(values))]


def agreement(one, other):
    """1 where two dtypes order what both can run alike, 0 where the orders have nothing in common (Spearman)."""
    both = [(row["us"], there["us"]) for row, there in zip(one, other, strict=True) if row["us"] and there["us"]]
    return statistics.correlation(*map(ranks, zip(*both, strict=True)))


def spelled(row):
    tile = "x".join(str(row[size]) for size in NAMES[:3])
    return f"{tile}, {row['num_warps']} warps, {row['num_stages']} stages"


torch.manual_seed(0)
asked = [(chosen, dtype) for dtype in DTYPES for chosen in LIST]
compiled_in(*asked[0])  # alone, because the first call sets up what all share
with ThreadPoolExecutor(12) as pool:
    outcomes = dict(zip(asked, pool.map(lambda each: compiled_in(*each), asked), strict=True))
shapes = {}
for shape in SHAPES:
    name = "x".join(map(str, shape))
    shapes[name] = found = {}
    print(f"{name}:")
    for dtype in DTYPES:
        short = str(dtype).removeprefix("torch.")
        found[short] = this = tried(shape, dtype, {chosen: outcomes[chosen, dtype] for chosen in LIST})
        ranked = sorted((row for row in this["rows"] if row["us"]), key=lambda row: row["us"])
        first = found["bfloat16"]["rows"]
        chosen = min((row for row in first if row["us"]), key=lambda row: row["us"])
        there = this["rows"][first.index(chosen)]["us"]
        this |= {"order": agreement(first, this["rows"]), "foreign": there and there / ranked[0]["us"]}
        costs = f"{there / ranked[0]['us']:.2f} of the best time" if there else "does not run"
        failed = len(LIST) - len(ranked)
        print(f"  {short}: {ranked[0]['tflops']:.0f} TFLOP/s with {spelled(ranked[0])}; {failed} of {len(LIST)} fail")
        print(f"    bfloat16's winner: {costs}; agreement of the order: {this['order']:.2f}")
keep(figures={"shapes": shapes, "configurations": len(LIST)})
