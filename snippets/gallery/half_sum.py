"""A long sum in float16, whose largest number is 65504."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.gallery import empty, show


# --8<-- [start:wrong]
@triton.jit
def mean_wrong_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float16)  # the mistake
    for start in range(0, N, BLOCK):
        x = tl.load(x_ptr + row * stride + start + columns, mask=start + columns < N, other=0.0)
        total += x
    tl.store(y_ptr + row, tl.sum(total, axis=0) / N)
# --8<-- [end:wrong]


@triton.jit
def mean_right_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        x = tl.load(x_ptr + row * stride + start + columns, mask=start + columns < N, other=0.0)
        total += x
    tl.store(y_ptr + row, tl.sum(total, axis=0) / N)


def run(kernel, x):
    y = empty(x.shape[0], dtype=torch.float16)
    kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=1024)
    return y


def inputs(size):
    return [10 * torch.rand(size).half()]


def expected(x):
    return x.mean(1)


show(run, mean_wrong_kernel, mean_right_kernel, inputs, expected, own=(8, 128), odd=(7, 20_000))
