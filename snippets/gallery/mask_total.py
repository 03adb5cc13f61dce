"""A mask against the size of the whole matrix: each row reads on into the next one."""
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
def row_sum_wrong_kernel(x_ptr, y_ptr, M, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    mask = row * stride + columns < M * stride  # the mistake
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0))
# --8<-- [end:wrong]


@triton.jit
def row_sum_right_kernel(x_ptr, y_ptr, M, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    mask = columns < N
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0))


def run(kernel, x):
    (M, N), y = x.shape, empty(x.shape[0])
    kernel[(M,)](x, y, M, N, x.stride(0), BLOCK=triton.next_power_of_2(N))
    return y


def expected(x):
    return x.sum(1)


show(run, row_sum_wrong_kernel, row_sum_right_kernel, lambda n: [torch.randn(n)], expected, own=(8, 256), odd=(7, 200))
