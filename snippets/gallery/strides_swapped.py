"""The strides of a matrix in the wrong order: the kernel walks along columns."""
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
def line_sum_kernel(x_ptr, y_ptr, N, row_stride, column_stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + columns * column_stride, mask=columns < N, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0))


def line_sums_wrong(x, y):
    across, down = x.stride()  # the mistake
    line_sum_kernel[(x.shape[0],)](x, y, x.shape[1], down, across, BLOCK=triton.next_power_of_2(x.shape[1]))
# --8<-- [end:wrong]


def line_sums_right(x, y):
    down, across = x.stride()
    line_sum_kernel[(x.shape[0],)](x, y, x.shape[1], down, across, BLOCK=triton.next_power_of_2(x.shape[1]))


def run(launch, x):
    y = empty(x.shape[0])
    launch(x, y)
    return y


show(run, line_sums_wrong, line_sums_right, lambda n: [torch.randn(n)], lambda x: x.sum(1), own=(64, 64), odd=(60, 70))
