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
def normalize_wrong_kernel(x_ptr, y_ptr, M, N, stride, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    mask = (rows < M) & (columns < N)
    x = tl.load(x_ptr + rows * stride + columns, mask=mask, other=0.0)
    total = tl.sum(x, axis=1)  # the mistake
    tl.store(y_ptr + rows * N + columns, x - total, mask=mask)
# --8<-- [end:wrong]


@triton.jit
def normalize_right_kernel(x_ptr, y_ptr, M, N, stride, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    mask = (rows < M) & (columns < N)
    x = tl.load(x_ptr + rows * stride + columns, mask=mask, other=0.0)
    total = tl.sum(x, axis=1)[:, None]
    tl.store(y_ptr + rows * N + columns, x - total, mask=mask)


def run(kernel, x):
    y = empty(*x.shape)
    kernel[(1,)](x, y, x.shape[0], x.shape[1], x.stride(0), BLOCK=32)
    return y


def expected(x):
    return x - x.sum(1, keepdim=True)


show(run, normalize_wrong_kernel, normalize_right_kernel, lambda n: [torch.randn(n)], expected, (32, 32), (30, 20))
