"""A mask of numbers, in a store and in a load."""
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
def keep_kernel(x_ptr, keep_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.load(keep_ptr + offsets, mask=mask, other=0)
    tl.store(y_ptr + offsets, x, mask=keep)  # the mistake


x = torch.rand(100, device=device)
keep = (x > 0.5).to(torch.int8)
y = torch.zeros_like(x)
said = error_of(lambda: keep_kernel[(1,)](x, keep, y, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_load]
@triton.jit
def load_kept_kernel(x_ptr, keep_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    keep = tl.load(keep_ptr + offsets, mask=mask, other=0)
    x = tl.load(x_ptr + offsets, mask=keep, other=0.0)  # the mistake
    tl.store(y_ptr + offsets, x, mask=mask)


said = error_of(lambda: load_kept_kernel[(1,)](x, keep, y, 100, BLOCK=128))
# --8<-- [end:wrong_load]
print(said)


# --8<-- [start:right]
@triton.jit
def load_kept_kernel(x_ptr, keep_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    keep = tl.load(keep_ptr + offsets, mask=mask, other=0) != 0
    x = tl.load(x_ptr + offsets, mask=keep, other=0.0)
    tl.store(y_ptr + offsets, x, mask=mask)


load_kept_kernel[(1,)](x, keep, y, 100, BLOCK=128)
print(torch.equal(y, x * keep))
#> True
# --8<-- [end:right]
