"""A product of float32 as `tl.dot` computes it by default: with ten bits of each fraction."""
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
def gram_wrong_kernel(x_ptr, y_ptr, M, K, stride, SIDE: tl.constexpr, BLOCK_K: tl.constexpr):
    rows, inner = tl.arange(0, SIDE), tl.arange(0, BLOCK_K)
    mask = (rows[:, None] < M) & (inner[None, :] < K)
    x = tl.load(x_ptr + rows[:, None] * stride + inner[None, :], mask=mask, other=0.0)
    y = tl.dot(x, tl.trans(x))  # the mistake
    mask = (rows[:, None] < M) & (rows[None, :] < M)
    tl.store(y_ptr + rows[:, None] * M + rows[None, :], y, mask=mask)
# --8<-- [end:wrong]


@triton.jit
def gram_right_kernel(x_ptr, y_ptr, M, K, stride, SIDE: tl.constexpr, BLOCK_K: tl.constexpr):
    rows, inner = tl.arange(0, SIDE), tl.arange(0, BLOCK_K)
    mask = (rows[:, None] < M) & (inner[None, :] < K)
    x = tl.load(x_ptr + rows[:, None] * stride + inner[None, :], mask=mask, other=0.0)
    y = tl.dot(x, tl.trans(x), input_precision="ieee")
    mask = (rows[:, None] < M) & (rows[None, :] < M)
    tl.store(y_ptr + rows[:, None] * M + rows[None, :], y, mask=mask)


def run(kernel, x):
    (M, K), y = x.shape, empty(x.shape[0], x.shape[0])
    kernel[(1,)](x, y, M, K, x.stride(0), SIDE=32, BLOCK_K=64)
    return y


show(run, gram_wrong_kernel, gram_right_kernel, lambda n: [torch.randn(n)], lambda x: x @ x.T, own=(32, 64), odd=(30, 50))
