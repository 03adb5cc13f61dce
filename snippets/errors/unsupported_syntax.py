"""A dict, a lambda and a try within a kernel."""
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
def leaky_kernel(x_ptr, y_ptr, NAME: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    slopes = {"relu": 0.0, "leaky": 0.01}  # the mistake
    tl.store(y_ptr + offsets, tl.where(x > 0, x, slopes[NAME] * x))


x = torch.rand(16, device=device) + 0.5
y = torch.empty_like(x)
said = error_of(lambda: leaky_kernel[(1,)](x, y, NAME="leaky", BLOCK=16))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_lambda]
@triton.jit
def product_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(y_ptr, tl.reduce(x, 0, lambda a, b: a * b))  # the mistake


said = error_of(lambda: product_kernel[(1,)](x, y, BLOCK=16))
# --8<-- [end:wrong_lambda]
print(said)


# --8<-- [start:wrong_try]
@triton.jit
def bias_kernel(x_ptr, bias_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    try:  # the mistake
        x += tl.load(bias_ptr + offsets)
    except Exception:
        x += 0.0
    tl.store(y_ptr + offsets, x)


said = error_of(lambda: bias_kernel[(1,)](x, None, y, BLOCK=16))
# --8<-- [end:wrong_try]
print(said)


# --8<-- [start:right]
@triton.jit
def multiply(a, b):  # in place of the lambda
    return a * b


@triton.jit
def product_kernel(x_ptr, bias_ptr, y_ptr, slope, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if bias_ptr is not None:  # in place of the try
        x += tl.load(bias_ptr + offsets)
    x = tl.where(x > 0, x, slope * x)
    tl.store(y_ptr, tl.reduce(x, 0, multiply))


slopes = {"relu": 0.0, "leaky": 0.01}  # outside of the kernel
product_kernel[(1,)](x, None, y, slopes["leaky"], BLOCK=16)
print(torch.allclose(y[0], torch.where(x > 0, x, 0.01 * x).prod()))
#> True
# --8<-- [end:right]
