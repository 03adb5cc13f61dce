"""A method of an argument that is 1 at a launch."""
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
def row_kernel(x_ptr, y_ptr, row, stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    start = row * stride.to(tl.int64)  # the mistake
    tl.store(y_ptr + offsets, tl.load(x_ptr + start + offsets))


x = torch.rand(300, device=device)
y = torch.empty(128, device=device)
row_kernel[(1,)](x, y, 3, 32, BLOCK=128)  # nothing is wrong with this one
said = error_of(lambda: row_kernel[(1,)](x, y, 3, 1, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def row_kernel(x_ptr, y_ptr, row, stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    start = row * tl.cast(stride, tl.int64)
    tl.store(y_ptr + offsets, tl.load(x_ptr + start + offsets))


for stride in (32, 1):
    row_kernel[(1,)](x, y, 3, stride, BLOCK=128)
    print(torch.equal(y, x[3 * stride : 3 * stride + 128]))
    #> True
    #> True
# --8<-- [end:right]
