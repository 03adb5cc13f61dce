"""A function of PyTorch in a kernel, and one of one's own that is not compiled."""
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
def sigmoid_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, torch.sigmoid(x), mask=mask)  # the mistake


x = torch.randn(100, device=device)
y = torch.zeros_like(x)
said = error_of(lambda: sigmoid_kernel[(1,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_helper]
def swish(x):  # the mistake
    return x * tl.sigmoid(x)


@triton.jit
def swish_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, swish(x), mask=mask)


said = error_of(lambda: swish_kernel[(1,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong_helper]
print(said)


# --8<-- [start:right]
@triton.jit
def swish(x):
    return x * tl.sigmoid(x)


@triton.jit
def swish_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, swish(x), mask=mask)


swish_kernel[(1,)](x, y, 100, BLOCK=128)
print(torch.allclose(y, torch.nn.functional.silu(x)))
#> True
# --8<-- [end:right]
