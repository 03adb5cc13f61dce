"""A number of warps that is not a power of two."""
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
said = error_of(lambda: double_kernel[(1,)](x, y, 1000, BLOCK=1024, num_warps=6))  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
double_kernel[(1,)](x, y, 1000, BLOCK=1024, num_warps=8)
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
