"""Time the templates that write as much as they read, beside PyTorch, on a matrix of 16384 x 16384.

The kernels are those of the templates, under names of their own.
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


@triton.jit
def timed_square_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    out = x * x  # your function
    tl.store(out_ptr + offsets, out, mask=mask)


def square(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    timed_square_kernel[grid](x, out, x.numel(), BLOCK=1024)
    return out


@triton.jit
def timed_add_row_kernel(
    x_ptr, row_ptr, out_ptr, n_rows, n_columns,
    x_row_stride, x_column_stride, out_row_stride, out_column_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < n_rows) & (columns < n_columns)
    x_offsets = rows * x_row_stride + columns * x_column_stride  # [BLOCK_M, BLOCK_N]
    x = tl.load(x_ptr + x_offsets, mask=mask)
    row = tl.load(row_ptr + columns, mask=columns < n_columns)  # [1, BLOCK_N]
    out = x.to(tl.float32) + row  # your function
    out_offsets = rows * out_row_stride + columns * out_column_stride
    tl.store(out_ptr + out_offsets, out, mask=mask)


def add_row(x, row):
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(x.shape[0], 16), triton.cdiv(x.shape[1], 256))
    sizes = (*x.shape, *x.stride(), *out.stride())
    timed_add_row_kernel[grid](x, row.contiguous(), out, *sizes, BLOCK_M=16, BLOCK_N=256)
    return out


@triton.jit
def timed_transpose_kernel(
    x_ptr, out_ptr, n_rows, n_columns, x_row_stride, out_row_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M
    column = tl.program_id(1).to(tl.int64) * BLOCK_N
    rows = row + tl.arange(0, BLOCK_M)[:, None]
    columns = column + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < n_rows) & (columns < n_columns)
    x = tl.load(x_ptr + rows * x_row_stride + columns, mask=mask)  # [BLOCK_M, BLOCK_N]
    out_rows = column + tl.arange(0, BLOCK_N)[:, None]
    out_columns = row + tl.arange(0, BLOCK_M)[None, :]
    out_mask = (out_rows < n_columns) & (out_columns < n_rows)
    out_offsets = out_rows * out_row_stride + out_columns
    tl.store(out_ptr + out_offsets, tl.trans(x), mask=out_mask)  # [BLOCK_N, BLOCK_M]


def transpose(x):
    x = x.contiguous()
    n_rows, n_columns = x.shape
    out = torch.empty(n_columns, n_rows, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, 64), triton.cdiv(n_columns, 64))
    timed_transpose_kernel[grid](
        x, out, n_rows, n_columns, x.stride(0), out.stride(0), BLOCK_M=64, BLOCK_N=64
    )
    return out


benchmark = Benchmark()
x = torch.randn(16384, 16384, device="cuda")
row = torch.randn(16384, device="cuda")
every_other, half_row = x[:, ::2], row[::2].contiguous()
cases = {
    "square": (2 * x.nbytes, lambda: square(x), lambda: torch.square(x)),
    "add_row": (2 * x.nbytes, lambda: add_row(x, row), lambda: x + row),
    "add_row_strided": (x.nbytes, lambda: add_row(every_other, half_row), lambda: every_other + half_row),
    "transpose": (2 * x.nbytes, lambda: transpose(x), lambda: x.T.contiguous()),
}
for name, (moved, ours, theirs) in cases.items():
    benchmark.case(
        name, "fwd", "16384x16384", x.dtype, moved, flops=None,
        implementations={"blockwise": ours, "eager": theirs}, expected=theirs(),
    )
benchmark.finish()
