"""A block that is indexed with a number, and one that is sliced."""
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
def relative_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    growth = tl.exp(tl.load(x_ptr + offsets, mask=mask))
    tl.store(y_ptr + offsets, growth / growth[0], mask=mask)  # the mistake


x = torch.rand(100, device=device)
y = torch.empty_like(x)
said = error_of(lambda: relative_kernel[(1,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_slice]
@triton.jit
def pairs_kernel(x_ptr, y_ptr, HALF: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 2 * HALF))
    tl.store(y_ptr + tl.arange(0, HALF), x[:HALF] - x[HALF:])  # the mistake


said = error_of(lambda: pairs_kernel[(1,)](x, y, HALF=32))
# --8<-- [end:wrong_slice]
print(said)


# --8<-- [start:right]
@triton.jit
def relative_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    growth = tl.exp(tl.load(x_ptr + offsets, mask=mask))
    first = tl.sum(tl.where(offsets == 0, growth, 0.0), axis=0)
    tl.store(y_ptr + offsets, growth / first, mask=mask)


relative_kernel[(1,)](x, y, 100, BLOCK=128)
print(torch.allclose(y, x.exp() / x[0].exp()))
#> True
# --8<-- [end:right]


# --8<-- [start:right_slice]
@triton.jit
def pairs_kernel(x_ptr, y_ptr, HALF: tl.constexpr):
    lanes = tl.arange(0, HALF)
    tl.store(y_ptr + lanes, tl.load(x_ptr + lanes) - tl.load(x_ptr + HALF + lanes))


pairs_kernel[(1,)](x, y, HALF=32)
print(torch.equal(y[:32], x[:32] - x[32:64]))
#> True
# --8<-- [end:right_slice]
print(said)
