"""A conditional expression of Python on a block, and one whose values have different dtypes."""
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
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = x if x > 0 else 0.0  # the mistake
    tl.store(y_ptr + offsets, y, mask=mask)


x = torch.randn(1000, device=device)
y = torch.empty_like(x)
said = error_of(lambda: relu_kernel[(4,)](x, y, 1000, BLOCK=256))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_leaky]
@triton.jit
def leaky_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = x if x > 0 else 0.5 * x
    tl.store(y_ptr + offsets, y, mask=mask)


said = error_of(lambda: leaky_kernel[(4,)](x, y, 1000, BLOCK=256))
# --8<-- [end:wrong_leaky]
print(said)


# --8<-- [start:wrong_number]
@triton.jit
def warmup_kernel(x_ptr, y_ptr, step, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    factor = 0.25 if step < 100 else 1
    tl.store(y_ptr + offsets, factor * tl.load(x_ptr + offsets, mask=mask), mask=mask)


said = error_of(lambda: warmup_kernel[(4,)](x, y, 7, 1000, BLOCK=256))
# --8<-- [end:wrong_number]
print(said)


# --8<-- [start:right]
@triton.jit
def leaky_kernel(x_ptr, y_ptr, step, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    factor = 0.25 if step < 100 else 1.0
    tl.store(y_ptr + offsets, factor * tl.where(x > 0, x, 0.5 * x), mask=mask)


leaky_kernel[(4,)](x, y, 7, 1000, BLOCK=256)
print(torch.equal(y, 0.25 * torch.where(x > 0, x, 0.5 * x)))
#> True
# --8<-- [end:right]
