"""A grid of a fixed size, and no loop that would let each program take more than one block."""
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
def negate_wrong_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # the mistake
    mask = offsets < n_elements
    tl.store(y_ptr + offsets, -tl.load(x_ptr + offsets, mask=mask), mask=mask)
# --8<-- [end:wrong]


@triton.jit
def negate_right_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n_elements, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < n_elements
        tl.store(y_ptr + offsets, -tl.load(x_ptr + offsets, mask=mask), mask=mask)


def run(kernel, x):
    y = empty(x.numel())
    kernel[(4,)](x, y, x.numel(), BLOCK=256)
    return y


show(run, negate_wrong_kernel, negate_right_kernel, lambda n: [torch.randn(n)], lambda x: -x, own=1024, odd=1900)
