"""No mask at the end: the last program reads and writes behind the tensors."""
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
def double_wrong_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, 2 * x)  # the mistake
# --8<-- [end:wrong]


@triton.jit
def double_right_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, 2 * x, mask=mask)


def run(kernel, x):
    y = empty(x.numel())
    kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y


show(run, double_wrong_kernel, double_right_kernel, lambda n: [torch.randn(n)], lambda x: 2 * x, own=1024, odd=1000)
