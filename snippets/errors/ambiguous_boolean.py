"""An if whose condition is a whole block."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:wrong]
@triton.jit
def double_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if offsets < n_elements:  # the mistake
        tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))


x = torch.randn(128, device=device)
y = torch.zeros_like(x)
said = error_of(lambda: double_kernel[(1,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)
print(int((y[100:] != 0).sum()), "elements written past the end")


# --8<-- [start:wrong_values]
@triton.jit
def relu_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if x < 0:  # the mistake
        x = 0 * x
    tl.store(y_ptr + offsets, x)


said = error_of(lambda: relu_kernel[(1,)](x, y, BLOCK=128))
# --8<-- [end:wrong_values]
print(said)
print(int((y != 0).sum()), "elements other than 0")


# --8<-- [start:right]
@triton.jit
def relu_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements  # in place of the first if
    x = tl.load(x_ptr + offsets, mask=mask)
    x = tl.where(x < 0, 0.0, x)  # in place of the second
    tl.store(y_ptr + offsets, x, mask=mask)


y = torch.zeros_like(x)
relu_kernel[(1,)](x, y, 100, BLOCK=128)
print(torch.equal(y[:100], torch.relu(x[:100])), torch.all(y[100:] == 0).item())
#> True True
# --8<-- [end:right]
