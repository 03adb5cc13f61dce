"""The product of two int8 is an int8, whatever it is stored to."""
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
def times_wrong_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x, y = tl.load(x_ptr + offsets, mask=mask), tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * y, mask=mask)  # the mistake
# --8<-- [end:wrong]


@triton.jit
def times_right_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x, y = tl.load(x_ptr + offsets, mask=mask), tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x.to(tl.int32) * y, mask=mask)


def run(kernel, x, y):
    out = empty(x.numel(), dtype=torch.int32)
    kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
    return out


def inputs(n):
    return [torch.randint(-10, 10, (n,)).to(torch.int8) for _ in range(2)]


show(run, times_wrong_kernel, times_right_kernel, inputs, lambda x, y: x.int() * y.int(), own=1024, odd=1000)
