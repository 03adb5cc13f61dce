"""No `other` before a sum of exponentials: an empty lane that holds zero adds one."""
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
def exp_sum_wrong_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < N)  # the mistake
    tl.store(y_ptr + row, tl.sum(tl.exp(x), axis=0))
# --8<-- [end:wrong]


@triton.jit
def exp_sum_right_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=-float("inf"))
    tl.store(y_ptr + row, tl.sum(tl.exp(x), axis=0))


def run(kernel, x):
    y = empty(x.shape[0])
    kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def expected(x):
    return x.exp().sum(1)


show(run, exp_sum_wrong_kernel, exp_sum_right_kernel, lambda n: [torch.randn(n)], expected, own=(8, 128), odd=(7, 100))
