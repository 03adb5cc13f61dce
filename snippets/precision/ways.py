"""One product of two matrices in every precision: checked anywhere and, on a GPU, its error, instructions and time kept."""
import os
import re
from functools import partial

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import Benchmark, alternate, keep, quantiles

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
from kernels.matmul.epilogue import matmul_tile


@triton.jit
def precise_matmul_kernel(
    a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, M, N, K, b_row_stride, b_column_stride,
    PRECISION: tl.constexpr, HALF_SUMS: tl.constexpr, PROMOTE: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # This program owns one tile of c. The tiles divide the matrices, so nothing is masked.
    pid_m, pid_n = matmul_tile(tl.program_id(0), M, N, BLOCK_M, BLOCK_N, 16)
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)  # [BLOCK_M]
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)  # [BLOCK_N]
    inner = tl.arange(0, BLOCK_K).to(tl.int64)  # [BLOCK_K]
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + inner[:, None] * b_row_stride + columns[None, :] * b_column_stride
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float16 if HALF_SUMS else tl.float32)
    for _ in range(0, K, BLOCK_K):
        total = tl.dot(
            tl.load(a_ptrs), tl.load(b_ptrs), total,
            input_precision=PRECISION, max_num_imprecise_acc=PROMOTE, out_dtype=total.dtype,
        )
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * b_row_stride
    if a_scale_ptr is not None:
        total *= tl.load(a_scale_ptr + rows)[:, None] * tl.load(b_scale_ptr + columns)[None, :]
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)
# --8<-- [end:kernel]


# --8<-- [start:check]
def product(
    a, b, precision="ieee", half_sums=False, tile=(16, 16, 32),
    promote=None, scales=(None, None), out=None, **options,
):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=out or a.dtype, device=a.device)
    constants = {"PRECISION": precision, "HALF_SUMS": half_sums, "PROMOTE": promote}
    sides = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    grid = (M // tile[0] * (N // tile[1]),)
    product.kernel = precise_matmul_kernel[grid](
        a, b, c, *scales, M, N, K, *b.stride(), **constants, **sides, **options
    )
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
a, b = (torch.randn(64, 64, device=device) for _ in range(2))
c = product(a, b)
exact = a.double() @ b.double()
torch.testing.assert_close(c.double(), exact, rtol=1e-5, atol=1e-5)
print("in float32, as exact as it should be")
#> in float32, as exact as it should be
# --8<-- [end:check]

FP32, FP16, BF16, FP8 = torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn
# Of each way: the type of a and b, what `tl.dot` is told, and the tile, warps and stages of a large product.
WAYS = {
    "ieee": (FP32, {"precision": "ieee"}, (128, 128, 16), 8, 3),
    "tf32": (FP32, {"precision": "tf32"}, (128, 128, 32), 8, 4),
    "tf32x3": (FP32, {"precision": "tf32x3"}, (128, 128, 32), 8, 3),
    "bf16x3": (FP32, {"precision": "bf16x3"}, (128, 128, 32), 8, 3),
    "bf16x6": (FP32, {"precision": "bf16x6"}, (128, 128, 32), 8, 3),
    "fp16": (FP16, {}, (128, 256, 64), 8, 3),
    "fp16_sums": (FP16, {"half_sums": True}, (128, 256, 64), 8, 3),
    "bf16": (BF16, {}, (128, 256, 64), 8, 3),
    "fp8": (FP8, {}, (128, 256, 128), 8, 3),
    "fp8_promoted": (FP8, {"promote": 128}, (128, 128, 128), 8, 3),
}
LENGTHS = (64, 256, 1024, 4096, 16384, 65536)
NAMES = {FP32: "fp32", FP16: "fp16", BF16: "bf16", FP8: "e4m3"}


def stored(matrix: torch.Tensor, dtype: torch.dtype, axis: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    """A matrix in a type; 8-bit floats with a scale for each line, so that its largest number is the type's."""
    if dtype != FP8:
        return matrix.to(dtype), None
    scale = matrix.abs().amax(axis, keepdim=True) / torch.finfo(FP8).max
    return (matrix / scale).to(FP8), scale


def inputs(a: torch.Tensor, b: torch.Tensor, dtype: torch.dtype) -> tuple:
    """a and b as the kernel gets them, their scales, and the numbers that it then reads, in float64."""
    (a, a_scale), (b, b_scale) = stored(a, dtype, 1), stored(b, dtype, 0)
    read = [m.double() if s is None else m.double() * s.double() for m, s in ((a, a_scale), (b, b_scale))]
    if dtype == FP8:
        b = b.t().contiguous().t()  # the tensor cores take 8-bit numbers only along K
    return a, b, (a_scale, b_scale), *read


def relative(c: torch.Tensor, exact: torch.Tensor) -> float:
    return ((c.double() - exact).norm() / exact.norm()).item()


def count(kernel) -> dict:
    """What the compiled kernel multiplies with, and how often the instruction stands in it; additions and conversions."""
    ptx = kernel.asm["ptx"]
    found = re.findall(r"^\s*(?:@!?%p\d+ )?((?:wgmma\.mma_async|mma\.sync|fma\.rn\.f32)\S*)", ptx, re.MULTILINE)
    others = {name: len(re.findall(rf"^\s*{re.escape(text)}", ptx, re.MULTILINE)) for name, text in
              (("additions", "add.f32"), ("conversions", "cvt.rna.tf32.f32"))}  # fmt: skip
    kinds = sorted(set(found), key=found.count)
    return {"name": kinds[-1] if kinds else "", "count": found.count(kinds[-1]) if kinds else 0, **others,
            "registers": kernel.n_regs, "spills": kernel.n_spills}  # fmt: skip


def guarded(action, *arguments, **options):
    """The action's result; or None, and the reason in `failures`."""
    try:
        return action(*arguments, **options)
    except Exception as error:
        failures.append(f"{type(error).__name__}: {str(error).strip().splitlines()[-1] if str(error).strip() else ''}")
        print("failed:", arguments[0], failures[-1])
        return None


def errors_of(name: str, way: tuple, a: torch.Tensor, b: torch.Tensor, exact: torch.Tensor) -> dict[str, float]:
    """The error against the numbers that were meant, and that against those that the kernel reads."""
    dtype, told, _, _, _ = way
    told = told | ({"promote": 64} if "promote" in told else {})  # a step of the loop has 64 products here
    a, b, scales, a_read, b_read = inputs(a, b, dtype)
    options = {"tile": (64, 64, 64 if dtype != FP32 else 32), "scales": scales, "num_warps": 4, "num_stages": 2}
    c = product(a, b, out=FP16 if "half_sums" in told else FP32, **told, **options)
    found = {"whole": relative(c, exact), "sums": relative(c, a_read @ b_read)}
    if name == "bf16":
        found["stored"] = relative(product(a, b, out=BF16, **told, **options), exact)
    return found


def library(a: torch.Tensor, b: torch.Tensor, precision: str) -> torch.Tensor:
    torch.backends.cuda.matmul.fp32_precision = precision
    return a @ b


def fast_sums(a: torch.Tensor, b: torch.Tensor, allowed: bool) -> torch.Tensor:
    torch.backends.cuda.matmul.allow_fp16_accumulation = allowed
    return a @ b


def scaled(a: torch.Tensor, b: torch.Tensor, scales: tuple, fast: bool) -> torch.Tensor:
    return torch._scaled_mm(a, b, *scales, out_dtype=BF16, use_fast_accum=fast)


def functions(dtype: torch.dtype, a: torch.Tensor, b: torch.Tensor, scales: tuple) -> dict:
    """Every way for one type, and PyTorch's own."""
    out = BF16 if dtype == FP8 else dtype
    found = {}
    for name, (kind, told, tile, warps, stages) in WAYS.items():
        if kind == dtype:
            options = {"tile": tile, "scales": scales, "num_warps": warps, "num_stages": stages, "out": out}
            found[name] = partial(product, a, b, **told, **options)
    if dtype == FP32:
        found |= {f"eager_{precision}": partial(library, a, b, precision) for precision in ("ieee", "tf32")}
    elif dtype == FP16:
        found |= {"eager": partial(fast_sums, a, b, False), "eager_fp16_sums": partial(fast_sums, a, b, True)}
    elif dtype == BF16:
        found["eager"] = partial(torch.matmul, a, b)
    else:
        found |= {"scaled_mm_fast": partial(scaled, a, b, scales, True), "scaled_mm_slow": partial(scaled, a, b, scales, False)}
    return found


def is_right(name: str, function, exact: torch.Tensor) -> bool:
    """Whether every element is near: a typical one is as large as the root of K, and a lost block of terms shows."""
    off = (function().double() - exact).abs().max().item() / exact.shape[0] ** 0.5
    if not off < (0.3 if "fp16_sums" in name else 0.1):
        raise AssertionError(f"{name} is wrong by {off:.2g} times the size of an element")
    return True


if device == "cuda":
    failures: list[str] = []
    benchmark = Benchmark()
    figures: dict = {"normal": {}, "positive": {}, "instructions": {}}
    for kind, make in (("normal", torch.randn), ("positive", torch.rand)):
        for length in LENGTHS:
            a, b = make(256, length, device="cuda"), make(length, 256, device="cuda")
            exact = a.double() @ b.double()
            row = {name: guarded(errors_of, name, way, a, b, exact) for name, way in WAYS.items()}
            for each in ("ieee", "tf32"):
                row[f"eager_{each}"] = guarded(lambda each: {"whole": relative(library(a, b, each), exact)}, each)
            figures[kind][str(length)] = row
            print(f"{kind} {length:6}", *(f"{name} {found['whole']:.1e}" for name, found in row.items() if found))
    side = 8192
    a, b = (torch.randn(side, side, device="cuda") for _ in range(2))
    timed = {}
    for dtype in (FP32, FP16, BF16, FP8):
        given_a, given_b, scales, a_read, b_read = inputs(a, b, dtype)
        exact = a_read @ b_read
        for name, function in functions(dtype, given_a, given_b, scales).items():
            if guarded(is_right, name, function, exact):
                timed[dtype, name] = function
                if name in WAYS:
                    figures["instructions"][name] = count(product.kernel)
        del a_read, b_read, exact
    calls = alternate(list(timed.values()))
    for (dtype, name), times in zip(timed, calls, strict=True):
        moved = side**2 * (4 if dtype == FP8 else 3 * dtype.itemsize)  # 8-bit floats give 16-bit ones
        row = {"op": "precision_scaled" if dtype == FP8 else "precision", "direction": "fwd"}
        row |= {"shape": f"{side}x{side}x{side}", "dtype": NAMES[dtype]}
        row |= {"implementation": name, "timing": "call", "ms": quantiles(times), "bytes": moved}
        benchmark.measurements.append(row | {"flops": 2 * side**3, "configuration": None})
        print(f"{NAMES[dtype]} {name:16} {2 * side**3 / quantiles(times)[1] / 1e9:7.0f} TFLOP/s")
    torch.backends.cuda.matmul.fp32_precision = "ieee"
    figures["failures"] = failures
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
