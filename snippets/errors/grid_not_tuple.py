"""A grid that is a number, or that has a fraction in it."""
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
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


x = torch.rand(1000, device=device)
y = torch.empty_like(x)
said = error_of(lambda: double_kernel[4](x, y, 1000, BLOCK=256))  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:wrong_float]
said = error_of(lambda: double_kernel[1000 / 256](x, y, 1000, BLOCK=256))  # the mistake
# --8<-- [end:wrong_float]
print(said)

# --8<-- [start:wrong_fraction]
said = error_of(lambda: double_kernel[(1000 / 256,)](x, y, 1000, BLOCK=256))  # the mistake
# --8<-- [end:wrong_fraction]
print(said)

# --8<-- [start:right]
double_kernel[(triton.cdiv(1000, 256),)](x, y, 1000, BLOCK=256)
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
