"""Time the steps towards a fast backward of layer norm, side by side.

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

from kernels.tools.benchmark import Benchmark
from kernels.norm.norm import norm_backward


@triton.jit
def timed_row_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr, dbias_ptr, locks_ptr,
    n_columns, n_groups, WAY: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    normal = (x - tl.load(mean_ptr + row)) * rstd
    g = dy * weight
    dot = tl.sum(g * normal, axis=0) / n_columns
    dx = (g - tl.sum(g, axis=0) / n_columns - normal * dot) * rstd
    tl.store(dx_ptr + row * n_columns + columns, dx, mask=mask)
    if WAY == "atomic":
        tl.atomic_add(dweight_ptr + columns, dy * normal, mask=mask)
        tl.atomic_add(dbias_ptr + columns, dy, mask=mask)
    if WAY == "locks":
        group = row % n_groups
        dweight_ptrs = dweight_ptr + group * n_columns + columns
        dbias_ptrs = dbias_ptr + group * n_columns + columns
        while tl.atomic_cas(locks_ptr + group, 0, 1) == 1:
            pass
        tl.store(dweight_ptrs, tl.load(dweight_ptrs, mask=mask) + dy * normal, mask=mask)
        tl.store(dbias_ptrs, tl.load(dbias_ptrs, mask=mask) + dy, mask=mask)
        tl.debug_barrier()
        tl.atomic_xchg(locks_ptr + group, 0)


@triton.jit
def timed_column_kernel(
    x_ptr, dy_ptr, mean_ptr, rstd_ptr, dweight_ptr, dbias_ptr,
    n_rows, n_columns, n_part, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[None, :]
    part = tl.program_id(1).to(tl.int64)
    dweight = tl.zeros([ROWS, BLOCK], tl.float32)
    dbias = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in range(0, n_part, ROWS):
        rows = part * n_part + start + tl.arange(0, ROWS)[:, None]
        mask = (rows < n_rows) & (columns < n_columns)
        offsets = rows * n_columns + columns
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(mean_ptr + rows, mask=rows < n_rows, other=0.0)
        rstd = tl.load(rstd_ptr + rows, mask=rows < n_rows, other=0.0)
        dweight += dy * (x - mean) * rstd
        dbias += dy
    out = part * n_columns + columns
    tl.store(dweight_ptr + out, tl.sum(dweight, axis=0, keep_dims=True), mask=columns < n_columns)
    tl.store(dbias_ptr + out, tl.sum(dbias, axis=0, keep_dims=True), mask=columns < n_columns)


def backward(way, x, weight, dy, mean, rstd, groups=128, parts=64):
    rows, n = x.shape
    dx = torch.empty_like(x)
    count = {"atomic": 1, "locks": groups, "two_kernels": parts}[way]
    partials = (torch.empty if way == "two_kernels" else torch.zeros)(2, count, n, device=x.device)
    locks = torch.zeros(groups, dtype=torch.int32, device=x.device)
    arguments = (x, weight, dy, mean, rstd, dx, *partials, locks, n, groups)
    timed_row_kernel[(rows,)](*arguments, WAY=way, BLOCK=triton.next_power_of_2(n), num_warps=8)
    if way == "two_kernels":
        grid, n_part = (triton.cdiv(n, 128), parts), triton.cdiv(rows, parts)
        timed_column_kernel[grid](x, dy, mean, rstd, *partials, rows, n, n_part, ROWS=16, BLOCK=128)
    return dx, *partials.sum(1).to(weight.dtype)


benchmark = Benchmark()
for rows, n in ((8192, 4096), (32768, 1024)):
    x, dy = (torch.randn(rows, n, device="cuda").bfloat16() for _ in range(2))
    weight, bias = (torch.randn(n, device="cuda").bfloat16() for _ in range(2))
    mean = x.float().mean(1)
    rstd = torch.rsqrt(x.float().var(1, correction=0) + 1e-5)
    given = (x, weight, dy, mean, rstd)
    native = torch.ops.aten.native_layer_norm_backward
    ways = {way: lambda way=way: backward(way, *given) for way in ("atomic", "locks", "two_kernels")}
    ways["blockwise"] = lambda: norm_backward(*given, (weight.dtype, bias.dtype))
    ways["eager"] = lambda: native(dy, x, [n], mean[:, None], rstd[:, None], weight, bias, [True] * 3)
    normal = (x.double() - mean.double()[:, None]) * rstd.double()[:, None]
    for name, way in ways.items():
        for found, exact in zip(way()[1:], ((dy * normal).sum(0), dy.double().sum(0)), strict=True):
            error = ((found - exact).norm() / exact.norm()).item()
            assert error < 1.6e-2, f"{name}: a parameter's gradient is off by {error:.1e}"
    g = dy.double() * weight.double()
    dot = (g * normal).mean(1, keepdim=True)
    expected = (g - g.mean(1, keepdim=True) - normal * dot) * rstd.double()[:, None]
    timed = {name: lambda way=way: way()[0] for name, way in ways.items()}
    shape = f"{rows}x{n}"
    benchmark.case("norm_step", "bwd", shape, x.dtype, 3 * x.nbytes, 14 * x.numel(), timed, expected)
benchmark.finish()
