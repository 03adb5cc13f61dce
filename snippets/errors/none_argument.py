"""An optional pointer that is None, and is loaded from all the same."""
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
def add_bias_kernel(x_ptr, bias_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    y = tl.load(x_ptr + offsets)
    y += tl.load(bias_ptr + offsets)  # the mistake
    tl.store(y_ptr + offsets, y)


x = torch.rand(128, device=device)
y = torch.empty_like(x)
said = error_of(lambda: add_bias_kernel[(1,)](x, None, y, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_scale]
@triton.jit
def scale_kernel(x_ptr, scale_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    scale = tl.load(scale_ptr)  # the mistake
    tl.store(y_ptr + offsets, scale * tl.load(x_ptr + offsets))


said = error_of(lambda: scale_kernel[(1,)](x, None, y, BLOCK=128))
# --8<-- [end:wrong_scale]
print(said)


# --8<-- [start:right]
@triton.jit
def add_bias_kernel(x_ptr, bias_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    y = tl.load(x_ptr + offsets)
    if bias_ptr is not None:
        y += tl.load(bias_ptr + offsets)
    tl.store(y_ptr + offsets, y)


bias = torch.rand(128, device=device)
add_bias_kernel[(1,)](x, None, y, BLOCK=128)
print(torch.equal(y, x))
#> True
add_bias_kernel[(1,)](x, bias, y, BLOCK=128)
print(torch.equal(y, x + bias))
#> True
# --8<-- [end:right]
