"""A softmax that does not subtract the maximum: numbers beyond 88 become infinite."""
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
def softmax_rows_wrong_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=-float("inf"))
    numerator = tl.exp(x)  # the mistake
    tl.store(y_ptr + row * N + columns, numerator / tl.sum(numerator, axis=0), mask=columns < N)
# --8<-- [end:wrong]


@triton.jit
def softmax_rows_right_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * N + columns, numerator / tl.sum(numerator, axis=0), mask=columns < N)


def run(kernel, x):
    y = empty(*x.shape)
    kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def expected(x):
    return x.softmax(1)


show(run, softmax_rows_wrong_kernel, softmax_rows_right_kernel, lambda n: [torch.randn(n)], expected, (8, 128), (7, 100))
