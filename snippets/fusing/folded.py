"""LayerNorm folded into the linear layer after it: the digits that it keeps, and its time beside the library's."""
# counters: folded blockwise eager
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from kernels.tools.benchmark import Benchmark, keep

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.norm import layer_norm
from kernels.layer_norm_linear import layer_norm_linear
from kernels.matmul import matmul
# --8<-- [end:imports]


# --8<-- [start:kernels]
@triton.jit
def row_moments_kernel(x_ptr, mean_ptr, rstd_ptr, K, eps, BLOCK: tl.constexpr):
    # This program owns one row of x. It is read once, and two numbers are left of it.
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)  # [BLOCK]
    x = tl.load(x_ptr + row * K + offsets, mask=offsets < K, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / K
    centered = tl.where(offsets < K, x - mean, 0.0)  # [BLOCK]
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, tl.rsqrt(tl.sum(centered * centered, axis=0) / K + eps))


@triton.jit
def folded_linear_kernel(
    x_desc, w_desc, y_desc, y_ptr, mean_ptr, rstd_ptr, u_ptr, v_ptr, M, N, K,
    UPCAST: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    # This program owns every num_programs-th tile of y.
    n_rows, n_columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    start, n_tiles, step = tl.program_id(0), n_rows * n_columns, tl.num_programs(0)
    for tile in tl.range(start, n_tiles, step, flatten=True):
        group = tile // (GROUP_M * n_columns)
        height = tl.minimum(n_rows - group * GROUP_M, GROUP_M)
        place = tile % (GROUP_M * n_columns)
        row = (group * GROUP_M + place % height) * BLOCK_M
        column = place // height * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            x = x_desc.load([row, k])  # [BLOCK_M, BLOCK_K], as it lies in memory
            w = w_desc.load([column, k]).T  # [BLOCK_K, BLOCK_N]
            if UPCAST:
                x, w = x.to(tl.float32), w.to(tl.float32)
            total = tl.dot(x, w, total, input_precision="ieee")
        rows, columns = row + tl.arange(0, BLOCK_M), column + tl.arange(0, BLOCK_N)
        mean = tl.load(mean_ptr + rows, mask=rows < M, other=0.0)  # [BLOCK_M]
        rstd = tl.load(rstd_ptr + rows, mask=rows < M, other=0.0)  # [BLOCK_M]
        u = tl.load(u_ptr + columns, mask=columns < N, other=0.0)  # [BLOCK_N]
        v = tl.load(v_ptr + columns, mask=columns < N, other=0.0)  # [BLOCK_N]
        y = rstd[:, None] * (total - mean[:, None] * u[None, :]) + v[None, :]
        y_desc.store([row, column], y.to(y_ptr.dtype.element_ty))
# --8<-- [end:kernels]


# --8<-- [start:fold]
device = "cuda" if torch.cuda.is_available() else "cpu"
PROGRAMS = torch.cuda.get_device_properties(0).multi_processor_count if device == "cuda" else 3


def prepare(ln_weight, ln_bias, weight, bias):
    """What the fold needs of the parameters: W', the sums u of its rows, and v."""
    folded = (weight.float() * ln_weight.float()).to(weight.dtype)
    u = folded.float().sum(1)  # of W' as it is stored, after rounding
    v = weight.float() @ ln_bias.float() + bias.float()
    return folded, u, v


def tile_descriptor(matrix, rows, columns):
    """A descriptor of a matrix, made by the host, for tiles of rows by columns."""
    return TensorDescriptor(matrix, list(matrix.shape), list(matrix.stride()), [rows, columns])


def folded_linear(x, folded, u, v, eps=1e-5, moments=None):
    """LayerNorm of the rows of x and a linear layer, without writing the normalized rows."""
    (M, K), N = x.shape, folded.shape[0]
    mean, rstd = moments or (torch.empty(M, device=x.device) for _ in range(2))
    if moments is None:
        block = triton.next_power_of_2(K)
        row_moments_kernel[(M,)](x, mean, rstd, K, eps, BLOCK=block, num_warps=8)
    rows, columns, inner = (128, 256, 64) if x.dtype.itemsize == 2 else (64, 64, 16)
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    tiles = tile_descriptor(x, rows, inner), tile_descriptor(folded, columns, inner), tile_descriptor(y, rows, columns)
    grid = (min(PROGRAMS, triton.cdiv(M, rows) * triton.cdiv(N, columns)),)
    sides = {"BLOCK_M": rows, "BLOCK_N": columns, "BLOCK_K": inner, "GROUP_M": 8}
    options = {"UPCAST": not x.is_cuda, "num_warps": 8, "num_stages": 3}
    folded_linear_kernel[grid](*tiles, y, mean, rstd, u, v, M, N, K, **sides, **options)
    return y


def exact(x, ln_weight, ln_bias, weight, bias, eps=1e-5):
    """The same in float64, from the definition."""
    x, weight = x.double(), weight.double()
    normal = (x - x.mean(1, keepdim=True)) / (x.var(1, unbiased=False, keepdim=True) + eps).sqrt()
    return (normal * ln_weight.double() + ln_bias.double()) @ weight.T + bias.double()


def relative(y, expected):
    """How far y is from what was expected, relative to the size of all of it."""
    return ((y.double() - expected).norm() / expected.norm()).item()
# --8<-- [end:fold]


# --8<-- [start:check]
def layer(M, K, N, ratio=0.0):
    """Rows whose mean is `ratio` times their spread, and the parameters of a norm and a linear layer."""
    x, weight = torch.randn(M, K, device=device) + ratio, torch.randn(N, K, device=device) / K**0.5
    ln_weight, ln_bias = (0.1 * torch.randn(K, device=device) for _ in range(2))
    return x, 1 + ln_weight, ln_bias, weight, 0.1 * torch.randn(N, device=device)


torch.manual_seed(0)
for ratio in (0, 100):
    x, *parameters = layer(70, 128, 40, ratio)
    half = [t.half() for t in parameters]
    folded = folded_linear(x.half(), *prepare(*half))
    first = layer_norm(x, *half[:2])  # in float32, as x is
    first = matmul(first.half(), half[2].mT, half[3])
    errors = [relative(y, exact(x, *half)) for y in (folded, first)]
    print(ratio, "folded:", errors[0] < 1e-3, " normalized first:", errors[1] < 1e-3)
    #> 0 folded: True  normalized first: True
    #> 100 folded: False  normalized first: True
# --8<-- [end:check]

RATIOS = (0, 1, 10, 100, 1000)
SHAPES = [(8192, 4096, 4096), (2048, 4096, 16384), (512, 1024, 4096), (16384, 1024, 4096)]  # rows, numbers a row, outputs


def plain(x, ln_weight, ln_bias, weight, bias):
    return F.linear(F.layer_norm(x, x.shape[-1:], ln_weight, ln_bias), weight, bias)


def careless(ln_weight, ln_bias, weight, bias):
    """The fold with one mistake: the sums of W' are taken before W' is rounded."""
    folded, _, v = prepare(ln_weight, ln_bias, weight, bias)
    return folded, (weight.float() * ln_weight.float()).sum(1), v


def rms_folded(x, ln_weight, weight):
    """RMSNorm and a linear layer by the same kernel: without a mean there is nothing to subtract."""
    moments = torch.zeros(x.shape[0], device=x.device), torch.rsqrt(x.float().square().mean(1) + 1e-5)
    zeros = torch.zeros(weight.shape[0], device=x.device)
    return folded_linear(x, (weight.float() * ln_weight.float()).to(weight.dtype), zeros, zeros, moments=moments)


def rms_exact(x, ln_weight, weight):
    normal = x.double() / (x.double().square().mean(1, keepdim=True) + 1e-5).sqrt()
    return (normal * ln_weight.double()) @ weight.double().T


def errors_of(kind, ratio):
    """The errors of each way for rows of float32, rows of bfloat16, or rows of float32 that are rounded for the product."""
    x, *parameters = layer(256, 4096, 256, ratio)
    if kind != "float32":
        parameters = [t.bfloat16() for t in parameters]
    if kind == "bfloat16":
        x = x.bfloat16()
    read = x.bfloat16() if kind == "rounded" else x
    if kind == "rounded":
        first = matmul(layer_norm(x, *parameters[:2]).bfloat16(), parameters[2].mT, parameters[3])
        eager = F.linear(F.layer_norm(x, (4096,), *(t.float() for t in parameters[:2])).bfloat16(), *parameters[2:])
    else:
        first, eager = layer_norm_linear(x, *parameters), plain(x, *parameters)
    wanted = exact(x, *parameters)
    return {
        "folded": relative(folded_linear(read, *prepare(*parameters)), wanted),
        "careless": relative(folded_linear(read, *careless(*parameters)), wanted),
        "first": relative(first, wanted),
        "eager": relative(eager, wanted),
        "rms_folded": relative(rms_folded(read, parameters[0], parameters[2]), rms_exact(x, parameters[0], parameters[2])),
    }


if device == "cuda" and torch.cuda.get_device_capability() >= (9, 0):
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        given = [t.bfloat16() for t in layer(*SHAPES[0])]
        prepared = prepare(*given[1:])
        ways = {
            "folded": lambda: folded_linear(given[0], *prepared),
            "blockwise": lambda: layer_norm_linear(*given),
            "eager": lambda: plain(*given),
        }
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        benchmark, failed = Benchmark(), {}
        errors = {kind: {str(ratio): errors_of(kind, ratio) for ratio in RATIOS} for kind in ("float32", "bfloat16", "rounded")}
        for kind, rows in errors.items():
            for ratio, row in rows.items():
                print(kind, ratio, {name: f"{value:.1e}" for name, value in row.items()})
        for M, K, N in SHAPES:
            torch.compiler.reset()
            given = [t.bfloat16() for t in layer(M, K, N)]
            x, ln_weight, ln_bias, weight, bias = given
            prepared, compiled = prepare(*given[1:]), torch.compile(plain, dynamic=False)
            ways = {
                "folded": lambda: folded_linear(x, *prepared),
                "folded_prepared": lambda: folded_linear(x, *prepare(ln_weight, ln_bias, weight, bias)),
                "blockwise": lambda: layer_norm_linear(*given),
                "eager": lambda: plain(*given),
                "compile": lambda: compiled(*given),
            }
            wanted, shape = exact(*given), f"{M}x{K}x{N}"
            for name in list(ways):
                try:
                    off = int((~torch.isclose(ways[name]().double(), wanted, rtol=2e-2, atol=0.1)).sum())
                    failed |= {f"{shape} {name}": f"{off} elements are wrong"} if off else {}
                except Exception as error:
                    failed[f"{shape} {name}"] = f"{type(error).__name__}: {error}"[:200]
            ways = {name: way for name, way in ways.items() if f"{shape} {name}" not in failed}
            moved, flops = 2 * (M * K + K * N + M * N), 2 * M * N * K
            benchmark.case("ln_linear_fold", "fwd", shape, x.dtype, moved, flops, ways, wanted)
            normal, moved_by_norm = layer_norm(x, ln_weight, ln_bias), 4 * M * K
            alone = {"blockwise": lambda: matmul(normal, weight.mT, bias), "eager": lambda: F.linear(normal, weight, bias)}
            benchmark.case("ln_linear_product", "fwd", shape, x.dtype, moved, flops, alone, wanted)
            norm = {
                "blockwise": lambda: layer_norm(x, ln_weight, ln_bias),
                "eager": lambda: F.layer_norm(x, (K,), ln_weight, ln_bias),
            }
            benchmark.case("ln_linear_norm", "fwd", shape, x.dtype, moved_by_norm, None, norm, normal)
        print("failed:", failed or "none")
        figures = {"errors": errors, "failed": failed}
        keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
