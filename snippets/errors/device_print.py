"""A print in a kernel, from every program and from one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def double_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.device_print("x", x)  # the mistake
    tl.store(y_ptr + offsets, 2 * x, mask=mask)


x = torch.arange(250.0, device=device)
y = torch.empty_like(x)
said = error_of(lambda: double_kernel[(16,)](x, y, 250, BLOCK=16))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def double_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    if tl.program_id(0) == 15:  # the one that you suspect
        tl.device_print("x", x)
    tl.store(y_ptr + offsets, 2 * x, mask=mask)


double_kernel[(16,)](x, y, 250, BLOCK=16)
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
