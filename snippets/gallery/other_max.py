"""No `other` before a maximum: what the masked lanes hold takes part."""
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
def row_max_wrong_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < N)  # the mistake
    tl.store(y_ptr + row, tl.max(x, axis=0))
# --8<-- [end:wrong]


@triton.jit
def row_max_right_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=-(2**31))
    tl.store(y_ptr + row, tl.max(x, axis=0))


def run(kernel, x):
    y = empty(x.shape[0], dtype=torch.int32)
    kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def inputs(size):
    return [torch.randint(-50, 50, size).to(torch.int32)]


show(run, row_max_wrong_kernel, row_max_right_kernel, inputs, lambda x: x.amax(1), own=(8, 128), odd=(7, 100))
