"""A tensor on the CPU, handed to a kernel on the GPU."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.errors import error_of


# --8<-- [start:wrong]
@triton.jit
def double_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


x = torch.rand(100)
y = torch.empty(100, device="cuda")
said = error_of(lambda: double_kernel[(1,)](x, y, 100, BLOCK=128))  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
x = x.to(y.device)
double_kernel[(1,)](x, y, 100, BLOCK=128)
print(torch.equal(y, 2 * x))
# --8<-- [end:right]
