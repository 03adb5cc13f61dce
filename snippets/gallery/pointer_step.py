"""A pointer that moves by the wrong side of the tile after each step of a loop."""
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
def product_wrong_kernel(a_ptr, b_ptr, c_ptr, K, a_stride, b_stride, SIDE: tl.constexpr, BLOCK_K: tl.constexpr):
    lines, inner = tl.arange(0, SIDE), tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + lines[:, None] * a_stride + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * b_stride + lines[None, :]
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        a_ptrs += SIDE  # the mistake
        b_ptrs += BLOCK_K * b_stride
    tl.store(c_ptr + lines[:, None] * SIDE + lines[None, :], total)
# --8<-- [end:wrong]


@triton.jit
def product_right_kernel(a_ptr, b_ptr, c_ptr, K, a_stride, b_stride, SIDE: tl.constexpr, BLOCK_K: tl.constexpr):
    lines, inner = tl.arange(0, SIDE), tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + lines[:, None] * a_stride + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * b_stride + lines[None, :]
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * b_stride
    tl.store(c_ptr + lines[:, None] * SIDE + lines[None, :], total)


def run(kernel, a, b):
    c = empty(32, 32)
    kernel[(1,)](a, b, c, a.shape[1], a.stride(0), b.stride(0), SIDE=32, BLOCK_K=16)
    return c


def inputs(K):
    return [torch.randn(32, K), torch.randn(K, 32)]


show(run, product_wrong_kernel, product_right_kernel, inputs, lambda a, b: a @ b, own=16, odd=50)
