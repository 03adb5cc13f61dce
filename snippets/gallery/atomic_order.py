"""A sum by atomic additions: their order is open, and so are the last bits."""
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
def sum_parts_kernel(x_ptr, y_ptr, n_elements, ATOMIC: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0), axis=0)
    if ATOMIC:
        tl.atomic_add(y_ptr, part)
    else:
        tl.store(y_ptr + pid, part)


def same_bits_wrong(x):
    y = empty(1).zero_()
    sum_parts_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), ATOMIC=True, BLOCK=64)  # the mistake
    return y
# --8<-- [end:wrong]


def same_bits_right(x):
    y, parts = empty(1), empty(triton.cdiv(x.numel(), 64))
    sum_parts_kernel[(parts.numel(),)](x, parts, x.numel(), ATOMIC=False, BLOCK=64)
    sum_parts_kernel[(1,)](parts, y, parts.numel(), ATOMIC=False, BLOCK=triton.next_power_of_2(parts.numel()))
    return y


def inputs(n):
    return [torch.rand(n)]


def expected(x):
    return x.sum().view(1)


show(lambda launch, x: launch(x), same_bits_wrong, same_bits_right, inputs, expected, own=64, odd=30_000)
