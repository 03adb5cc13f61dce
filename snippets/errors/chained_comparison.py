"""A block between two bounds, as Python would write it."""
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
def window_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    inside = -1.0 < x < 1.0  # the mistake
    tl.store(y_ptr + offsets, tl.where(inside, x, 0.0))


x = torch.linspace(-2, 2, 128, device=device)
y = torch.zeros_like(x)
said = error_of(lambda: window_kernel[(1,)](x, y, BLOCK=128))
# --8<-- [end:wrong]
print(said)
print(int((y != 0).sum()), "elements other than 0")


# --8<-- [start:wrong_parentheses]
@triton.jit
def copy_kernel(x_ptr, y_ptr, n_elements, limit, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements & offsets < limit  # the mistake
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


y = torch.zeros_like(x)
said = error_of(lambda: copy_kernel[(1,)](x, y, 100, 50, BLOCK=128))
# --8<-- [end:wrong_parentheses]
print(said)
print(int((y != 0).sum()), "elements other than 0")


# --8<-- [start:right]
@triton.jit
def window_kernel(x_ptr, y_ptr, n_elements, limit, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = (offsets < n_elements) & (offsets < limit)
    x = tl.load(x_ptr + offsets, mask=mask)
    inside = (x > -1.0) & (x < 1.0)
    tl.store(y_ptr + offsets, tl.where(inside, x, 0.0), mask=mask)


y = torch.zeros_like(x)
window_kernel[(1,)](x, y, 100, 50, BLOCK=128)
print(torch.equal(y[:50], torch.where(x.abs() < 1, x, 0.0)[:50]), torch.all(y[50:] == 0).item())
#> True True
# --8<-- [end:right]
