"""Some lanes of a block are to be set, as in NumPy."""
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
def relu_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    x[x < 0] = 0.0  # the mistake
    tl.store(y_ptr + offsets, x, mask=mask)


x = torch.randn(1000, device=device)
y = torch.empty_like(x)
said = error_of(lambda: relu_kernel[(1,)](x, y, 1000, BLOCK=1024))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_lane]
@triton.jit
def first_kernel(y_ptr, BLOCK: tl.constexpr):
    y = tl.zeros((BLOCK,), tl.float32)
    y[0] = 1.0  # the mistake
    tl.store(y_ptr + tl.arange(0, BLOCK), y)


said = error_of(lambda: first_kernel[(1,)](y, BLOCK=512))
# --8<-- [end:wrong_lane]
print(said)


# --8<-- [start:right]
@triton.jit
def relu_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    x = tl.where(x < 0, 0.0, x)
    tl.store(y_ptr + offsets, x, mask=mask)


relu_kernel[(1,)](x, y, 1000, BLOCK=1024)
print(torch.equal(y, torch.relu(x)))
#> True
# --8<-- [end:right]
