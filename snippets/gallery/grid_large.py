"""More programs than rows, and no mask that stops them."""
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
def row_mean_wrong_kernel(x_ptr, y_ptr, M, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    mask = columns < N
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0) / N)  # the mistake
# --8<-- [end:wrong]


@triton.jit
def row_mean_right_kernel(x_ptr, y_ptr, M, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    mask = (columns < N) & (row < M)
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
    tl.store(y_ptr + row, tl.sum(x, axis=0) / N, mask=row < M)


def run(kernel, x):
    (M, N), y = x.shape, empty(x.shape[0])
    grid = (triton.next_power_of_2(M),)
    kernel[grid](x, y, M, N, x.stride(0), BLOCK=triton.next_power_of_2(N))
    return y


def expected(x):
    return x.mean(1)


show(run, row_mean_wrong_kernel, row_mean_right_kernel, lambda n: [torch.randn(n)], expected, own=(8, 128), odd=(5, 100))
