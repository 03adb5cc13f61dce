"""An offset of 32 bits in a tensor of more than two gibibytes: it turns negative."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.gallery import empty, show


# --8<-- [start:wrong]
@triton.jit
def first_of_row_wrong_kernel(x_ptr, y_ptr, stride):
    row = tl.program_id(0)  # the mistake
    tl.store(y_ptr + row, tl.load(x_ptr + row * stride))
# --8<-- [end:wrong]


@triton.jit
def first_of_row_right_kernel(x_ptr, y_ptr, stride):
    row = tl.program_id(0).to(tl.int64)
    tl.store(y_ptr + row, tl.load(x_ptr + row * stride))


def run(kernel, x):
    y = empty(3, dtype=torch.int8)
    kernel[(3,)](x, y, x.numel() // 2)
    return y


def inputs(stride):
    x = torch.zeros(2 * stride + 1, dtype=torch.int8)
    x[::stride] = torch.tensor([1, 2, 3], dtype=torch.int8)
    return [x]


def expected(x):
    return x[:: x.numel() // 2]


show(run, first_of_row_wrong_kernel, first_of_row_right_kernel, inputs, expected, own=2**20, odd=2**30 + 64)
