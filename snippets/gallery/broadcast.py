"""A column of sums without its second dimension: it is taken for a row."""
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
def normalize_wrong_kernel(x_ptr, y_ptr, M, N, stride, SIDE_M: tl.constexpr, SIDE_N: tl.constexpr):
    rows, columns = tl.arange(0, SIDE_M)[:, None], tl.arange(0, SIDE_N)[None, :]
    mask = (rows < M) & (columns < N)
    x = tl.load(x_ptr + rows * stride + columns, mask=mask, other=0.0)
    total = tl.sum(x, axis=1)  # the mistake
    tl.store(y_ptr + rows * N + columns, x - total, mask=mask)
# --8<-- [end:wrong]


@triton.jit
def normalize_right_kernel(x_ptr, y_ptr, M, N, stride, SIDE_M: tl.constexpr, SIDE_N: tl.constexpr):
    rows, columns = tl.arange(0, SIDE_M)[:, None], tl.arange(0, SIDE_N)[None, :]
    mask = (rows < M) & (columns < N)
    x = tl.load(x_ptr + rows * stride + columns, mask=mask, other=0.0)
    total = tl.sum(x, axis=1)[:, None]
    tl.store(y_ptr + rows * N + columns, x - total, mask=mask)


def run(kernel, x):
    y, sides = empty(*x.shape), [triton.next_power_of_2(side) for side in x.shape]
    kernel[(1,)](x, y, *x.shape, x.stride(0), SIDE_M=sides[0], SIDE_N=sides[1])
    return y


def expected(x):
    return x - x.sum(1, keepdim=True)


show(run, normalize_wrong_kernel, normalize_right_kernel, lambda n: [torch.randn(n)], expected, (32, 32), (30, 60))
