"""A block of a fixed length for rows of any length: what does not fit is left out."""
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
def half_row_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < N)
    tl.store(y_ptr + row * N + columns, 0.5 * x, mask=columns < N)


def half_wrong(x, y):
    half_row_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=128)  # the mistake
# --8<-- [end:wrong]


def half_right(x, y):
    half_row_kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=triton.next_power_of_2(x.shape[1]))


def run(launch, x):
    y = empty(*x.shape)
    launch(x, y)
    return y


show(run, half_wrong, half_right, lambda n: [torch.randn(n)], lambda x: 0.5 * x, own=(8, 128), odd=(7, 200))
