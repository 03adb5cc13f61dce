"""A grid rounded down: the remainder belongs to nobody."""
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
def square_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x * x, mask=mask)


def square_wrong(x, y):
    grid = (x.numel() // 256,)  # the mistake
    square_kernel[grid](x, y, x.numel(), BLOCK=256)
# --8<-- [end:wrong]


def square_right(x, y):
    grid = (triton.cdiv(x.numel(), 256),)
    square_kernel[grid](x, y, x.numel(), BLOCK=256)


def run(launch, x):
    y = empty(x.numel())
    launch(x, y)
    return y


show(run, square_wrong, square_right, lambda n: [torch.randn(n)], lambda x: x * x, own=1024, odd=1000)
