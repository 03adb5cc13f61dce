"""`tl.where` chooses between two values and not between two loads: both are carried out, the one in front of the tensor too."""
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
def previous_wrong_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    previous = tl.load(x_ptr + offsets - 1, mask=mask)  # the mistake
    y = tl.load(x_ptr + offsets, mask=mask) - tl.where(offsets > 0, previous, 0.0)
    tl.store(y_ptr + offsets, y, mask=mask)
# --8<-- [end:wrong]


@triton.jit
def previous_right_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    previous = tl.load(x_ptr + offsets - 1, mask=mask & (offsets > 0))
    y = tl.load(x_ptr + offsets, mask=mask) - tl.where(offsets > 0, previous, 0.0)
    tl.store(y_ptr + offsets, y, mask=mask)


def run(kernel, x):
    y = empty(x.numel())
    kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y


def expected(x):
    return x - torch.cat([torch.zeros_like(x[:1]), x[:-1]])


show(run, previous_wrong_kernel, previous_right_kernel, lambda n: [torch.randn(n)], expected, own=1024, odd=1000)
