"""A block of values for one pointer, in a store and in an atomic addition."""
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
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr, 2 * x, mask=mask)  # the mistake


x = torch.arange(100.0, device=device)
y = torch.empty_like(x)
said = error_of(lambda: double_kernel[(1,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_atomic]
@triton.jit
def sum_kernel(x_ptr, sum_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    tl.atomic_add(sum_ptr, x)  # the mistake


total = torch.zeros(1, device=device)
said = error_of(lambda: sum_kernel[(1,)](x, total, 100, BLOCK=128))
# --8<-- [end:wrong_atomic]
print(said)


# --8<-- [start:right]
@triton.jit
def double_and_sum_kernel(x_ptr, y_ptr, sum_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(y_ptr + offsets, 2 * x, mask=mask)  # a pointer a value
    tl.atomic_add(sum_ptr, tl.sum(x, axis=0))  # one value for one pointer


double_and_sum_kernel[(1,)](x, y, total, 100, BLOCK=128)
print(torch.equal(y, 2 * x), total.item() == x.sum().item())
#> True True
# --8<-- [end:right]
