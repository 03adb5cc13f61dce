"""A block whose length is not a power of two."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:wrong]
@triton.jit
def double_kernel(x_ptr, y_ptr):
    offsets = tl.arange(0, 100)  # the mistake
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))


x = torch.rand(100, device=device)
y = torch.empty_like(x)
said = error_of(lambda: double_kernel[(1,)](x, y))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def double_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


double_kernel[(1,)](x, y, 100, BLOCK=triton.next_power_of_2(100))
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
