"""A kernel that reads a neighbor, told to write over its own input."""
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
def step_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    before = tl.load(x_ptr + offsets - 1, mask=mask & (offsets > 0), other=0.0)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) - before, mask=mask)


def step_wrong(x):
    step_kernel[(triton.cdiv(x.numel(), 128),)](x, x, x.numel(), BLOCK=128)  # the mistake
    return x
# --8<-- [end:wrong]


def step_right(x):
    y = empty(x.numel())
    step_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y


def expected(x):
    return x - torch.cat([torch.zeros_like(x[:1]), x[:-1]])


show(lambda launch, x: launch(x), step_wrong, step_right, lambda n: [torch.randn(n)], expected, own=128, odd=10_000)
