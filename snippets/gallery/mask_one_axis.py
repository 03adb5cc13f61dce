"""A mask for the rows of a tile and none for its columns: they run on into the next row."""
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
def scale_columns_wrong_kernel(x_ptr, w_ptr, y_ptr, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = rows < M  # the mistake
    x = tl.load(x_ptr + rows * stride + columns, mask=mask)
    w = tl.load(w_ptr + columns, mask=columns < N)
    tl.store(y_ptr + rows * N + columns, x * w, mask=mask)
# --8<-- [end:wrong]


@triton.jit
def scale_columns_right_kernel(x_ptr, w_ptr, y_ptr, M, N, stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < M) & (columns < N)
    x = tl.load(x_ptr + rows * stride + columns, mask=mask)
    w = tl.load(w_ptr + columns, mask=columns < N)
    tl.store(y_ptr + rows * N + columns, x * w, mask=mask)


def run(kernel, x, w):
    (M, N), y = x.shape, empty(*x.shape)
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 32))
    kernel[grid](x, w, y, M, N, x.stride(0), BLOCK_M=16, BLOCK_N=32)
    return y


def inputs(size):
    return [torch.randn(size), torch.randn(size[1])]


show(run, scale_columns_wrong_kernel, scale_columns_right_kernel, inputs, lambda x, w: x * w, own=(32, 64), odd=(30, 50))
