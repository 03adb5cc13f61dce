"""A softmax down the columns in place of along the rows."""
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
def over_wrong_kernel(x_ptr, y_ptr, M, N, stride, SIDE_M: tl.constexpr, SIDE_N: tl.constexpr):
    rows, columns = tl.arange(0, SIDE_M)[:, None], tl.arange(0, SIDE_N)[None, :]
    mask = (rows < M) & (columns < N)
    x = tl.load(x_ptr + rows * stride + columns, mask=mask, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0, keep_dims=True))
    y = numerator / tl.sum(numerator, axis=0, keep_dims=True)  # the mistake
    tl.store(y_ptr + rows * N + columns, y, mask=mask)
# --8<-- [end:wrong]


@triton.jit
def over_right_kernel(x_ptr, y_ptr, M, N, stride, SIDE_M: tl.constexpr, SIDE_N: tl.constexpr):
    rows, columns = tl.arange(0, SIDE_M)[:, None], tl.arange(0, SIDE_N)[None, :]
    mask = (rows < M) & (columns < N)
    x = tl.load(x_ptr + rows * stride + columns, mask=mask, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=1, keep_dims=True))
    y = numerator / tl.sum(numerator, axis=1, keep_dims=True)
    tl.store(y_ptr + rows * N + columns, y, mask=mask)


def run(kernel, x):
    y, sides = empty(*x.shape), [triton.next_power_of_2(side) for side in x.shape]
    kernel[(1,)](x, y, *x.shape, x.stride(0), SIDE_M=sides[0], SIDE_N=sides[1])
    return y


show(run, over_wrong_kernel, over_right_kernel, lambda n: [torch.randn(n)], lambda x: x.softmax(1), own=(16, 64), odd=(13, 50))
