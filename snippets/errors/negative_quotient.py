"""Quotients of negative numbers, which a kernel rounds toward zero and Python rounds down."""
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
def bucket_kernel(x_ptr, y_ptr, n_elements, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x // WIDTH, mask=mask)  # the mistake


x = torch.tensor([-5, -4, -1, 0, 3, 4], dtype=torch.int32, device=device)
y = torch.empty_like(x)
said = error_of(lambda: bucket_kernel[(1,)](x, y, 6, WIDTH=4, BLOCK=8))
print("kernel:", y.tolist())
#> kernel: [-1, -1, 0, 0, 0, 1]
print("Python:", [each // 4 for each in x.tolist()])
#> Python: [-2, -1, -1, 0, 0, 1]
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def bucket_kernel(x_ptr, y_ptr, n_elements, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    quotient = tl.where(x % WIDTH < 0, x // WIDTH - 1, x // WIDTH)
    tl.store(y_ptr + offsets, quotient, mask=mask)


bucket_kernel[(1,)](x, y, 6, WIDTH=4, BLOCK=8)
print(torch.equal(y, torch.div(x, 4, rounding_mode="floor")))
#> True
# --8<-- [end:right]
