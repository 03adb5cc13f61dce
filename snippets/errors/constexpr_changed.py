"""An argument that is assigned to in a loop, and is 1 at a launch."""
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
def row_sum_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    while n_elements > 0:
        total += tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
        x_ptr += BLOCK
        n_elements -= BLOCK  # the mistake
    tl.store(y_ptr, tl.sum(total, axis=0))


x = torch.rand(1000, device=device)
y = torch.empty(1, device=device)
row_sum_kernel[(1,)](x, y, 1000, BLOCK=256)  # nothing is wrong with this one
said = error_of(lambda: row_sum_kernel[(1,)](x, y, 1, BLOCK=256))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def row_sum_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    left = n_elements
    while left > 0:
        total += tl.load(x_ptr + offsets, mask=offsets < left, other=0.0)
        x_ptr += BLOCK
        left -= BLOCK
    tl.store(y_ptr, tl.sum(total, axis=0))


for n in (1000, 1):
    row_sum_kernel[(1,)](x, y, n, BLOCK=256)
    print(torch.allclose(y, x[:n].sum()))
    #> True
    #> True
# --8<-- [end:right]
