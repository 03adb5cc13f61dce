"""Every program loads one number, adds to it and stores it: updates get lost between the two."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.gallery import empty, show


# --8<-- [start:wrong]
@triton.jit
def count_wrong_kernel(x_ptr, count_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    positive = tl.sum((x > 0).to(tl.int32), axis=0)
    tl.store(count_ptr, tl.load(count_ptr) + positive)  # the mistake
# --8<-- [end:wrong]


@triton.jit
def count_right_kernel(x_ptr, count_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    positive = tl.sum((x > 0).to(tl.int32), axis=0)
    tl.atomic_add(count_ptr, positive)


def run(kernel, x):
    count = empty(1, dtype=torch.int32).zero_()
    kernel[(triton.cdiv(x.numel(), 64),)](x, count, x.numel(), BLOCK=64)
    return count


def expected(x):
    return (x > 0).sum().view(1)


show(run, count_wrong_kernel, count_right_kernel, lambda n: [torch.randn(n)], expected, own=64, odd=10_000)
