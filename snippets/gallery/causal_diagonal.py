"""A causal mask that leaves out the diagonal: no token sees itself, and the first one sees nothing."""
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
def causal_wrong_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    seen = columns < row  # the mistake
    x = tl.load(x_ptr + row * stride + columns, mask=seen & (columns < N), other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * N + columns, numerator / tl.sum(numerator, axis=0), mask=columns < N)
# --8<-- [end:wrong]


@triton.jit
def causal_right_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    seen = columns <= row
    x = tl.load(x_ptr + row * stride + columns, mask=seen & (columns < N), other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * N + columns, numerator / tl.sum(numerator, axis=0), mask=columns < N)


def run(kernel, x):
    y = empty(*x.shape)
    kernel[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def expected(x):
    return x.masked_fill(torch.ones_like(x).triu(1).bool(), -float("inf")).softmax(1)


show(run, causal_wrong_kernel, causal_right_kernel, lambda n: [torch.randn(n)], expected, own=(64, 64), odd=(50, 50))
