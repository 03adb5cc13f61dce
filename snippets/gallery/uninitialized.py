"""Atomic additions to a tensor that nobody has set to zero."""
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
def histogram_kernel(x_ptr, counts_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    bins = tl.load(x_ptr + offsets, mask=mask, other=0) & 15
    tl.atomic_add(counts_ptr + bins, 1, mask=mask)


def histogram_wrong(x):
    counts = empty(16, dtype=torch.int32)  # the mistake
    histogram_kernel[(triton.cdiv(x.numel(), 128),)](x, counts, x.numel(), BLOCK=128)
    return counts
# --8<-- [end:wrong]


def histogram_right(x):
    counts = empty(16, dtype=torch.int32).zero_()
    histogram_kernel[(triton.cdiv(x.numel(), 128),)](x, counts, x.numel(), BLOCK=128)
    return counts


def inputs(n):
    return [torch.randint(0, 16, (n,)).to(torch.int32)]


def expected(x):
    return torch.bincount((x & 15).long(), minlength=16)


show(lambda launch, x: launch(x), histogram_wrong, histogram_right, inputs, expected, own=1024, odd=1000)
