"""Rows are taken to lie one behind another; of a view they do not."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.gallery import empty, show


# --8<-- [start:wrong]
@triton.jit
def add_rows_wrong_kernel(x_ptr, y_ptr, out_ptr, N, x_stride, y_stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    mask = columns < N
    x = tl.load(x_ptr + row * N + columns, mask=mask)
    y = tl.load(y_ptr + row * N + columns, mask=mask)  # the mistake
    tl.store(out_ptr + row * N + columns, x + y, mask=mask)
# --8<-- [end:wrong]


@triton.jit
def add_rows_right_kernel(x_ptr, y_ptr, out_ptr, N, x_stride, y_stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    mask = columns < N
    x = tl.load(x_ptr + row * x_stride + columns, mask=mask)
    y = tl.load(y_ptr + row * y_stride + columns, mask=mask)
    tl.store(out_ptr + row * N + columns, x + y, mask=mask)


def run(kernel, x, y):
    out = empty(*x.shape)
    block = triton.next_power_of_2(x.shape[1])
    kernel[(x.shape[0],)](x, y, out, x.shape[1], x.stride(0), y.stride(0), BLOCK=block)
    return out


def inputs(size):
    return [torch.randn(size), torch.randn(size)]


show(run, add_rows_wrong_kernel, add_rows_right_kernel, inputs, lambda x, y: x + y, own=(8, 128), odd=(7, 100))
