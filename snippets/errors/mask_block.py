"""A mask for a block of lanes at a single pointer."""
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
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr, mask=mask)  # the mistake
    tl.store(y_ptr + offsets, 2 * x, mask=mask)


x = torch.rand(100, device=device)
y = torch.empty_like(x)
said = error_of(lambda: double_kernel[(1,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_store]
@triton.jit
def largest_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf"))
    tl.store(out_ptr, tl.max(x, axis=0), mask=mask)  # the mistake


out = torch.empty(1, device=device)
said = error_of(lambda: largest_kernel[(1,)](x, out, 100, BLOCK=128))
# --8<-- [end:wrong_store]
print(said)


# --8<-- [start:right]
@triton.jit
def double_and_largest_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf"))
    tl.store(y_ptr + offsets, 2 * x, mask=mask)  # a pointer for each lane of the mask
    tl.store(out_ptr, tl.max(x, axis=0))  # one pointer, and no mask


double_and_largest_kernel[(1,)](x, y, out, 100, BLOCK=128)
print(torch.equal(y, 2 * x), out.item() == x.max().item())
#> True True
# --8<-- [end:right]
