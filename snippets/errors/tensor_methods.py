"""What a block does not know of the things that Python's numbers and PyTorch's tensors know."""
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
def square_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, x ** 2)  # the mistake


x = torch.rand(128, device=device) - 0.5
y = torch.empty_like(x)
said = error_of(lambda: square_kernel[(1,)](x, y, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_method]
@triton.jit
def widen_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, x.float())  # the mistake


said = error_of(lambda: widen_kernel[(1,)](x, y, BLOCK=128))
# --8<-- [end:wrong_method]
print(said)


# --8<-- [start:wrong_builtin]
@triton.jit
def size_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, abs(x))  # the mistake


said = error_of(lambda: size_kernel[(1,)](x, y, BLOCK=128))
# --8<-- [end:wrong_builtin]
print(said)


# --8<-- [start:wrong_index]
@triton.jit
def copy_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = x_ptr[offsets]  # the mistake
    tl.store(y_ptr + offsets, x)


said = error_of(lambda: copy_kernel[(1,)](x, y, BLOCK=128))
# --8<-- [end:wrong_index]
print(said)


# --8<-- [start:wrong_loop]
@triton.jit
def sum_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.load(x_ptr + offsets)
    for factor in (2.0, 3.0):  # the mistake
        total += factor * total
    tl.store(y_ptr + offsets, total)


said = error_of(lambda: sum_kernel[(1,)](x, y, BLOCK=128))
# --8<-- [end:wrong_loop]
print(said)


# --8<-- [start:right]
@triton.jit
def sizes_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets).to(tl.float32)
    factors: tl.constexpr = (2.0, 3.0)
    total = x * x
    for i in tl.static_range(2):
        total += factors[i] * tl.abs(x)
    tl.store(y_ptr + offsets, total)


sizes_kernel[(1,)](x, y, BLOCK=128)
print(torch.allclose(y, x ** 2 + 5 * abs(x)))
#> True
# --8<-- [end:right]
