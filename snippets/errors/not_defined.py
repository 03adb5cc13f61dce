"""A variable that is set in a branch, or in the first round of a loop."""
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
def accumulate_kernel(x_ptr, y_ptr, n_elements, beta, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    if beta != 0:
        old = beta * tl.load(y_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x + old, mask=mask)  # the mistake


x = torch.rand(1000, device=device)
y = torch.ones_like(x)
said = error_of(lambda: accumulate_kernel[(1,)](x, y, 1000, 0.5, BLOCK=1024))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_loop]
@triton.jit
def largest_kernel(x_ptr, y_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    for start in range(0, N, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < N, other=-float("inf"))
        if start == 0:
            best = x
        else:
            best = tl.maximum(best, x)  # the mistake
    tl.store(y_ptr, tl.max(best))


largest = torch.zeros(1, device=device)
said = error_of(lambda: largest_kernel[(1,)](x, largest, N=1000, BLOCK=128))
# --8<-- [end:wrong_loop]
print(said)


# --8<-- [start:right]
@triton.jit
def accumulate_kernel(x_ptr, y_ptr, n_elements, beta, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    old = tl.zeros([BLOCK], tl.float32)
    if beta != 0:
        old = beta * tl.load(y_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x + old, mask=mask)


y = torch.ones_like(x)
accumulate_kernel[(1,)](x, y, 1000, 0.5, BLOCK=1024)
print(torch.equal(y, x + 0.5))
#> True
# --8<-- [end:right]
