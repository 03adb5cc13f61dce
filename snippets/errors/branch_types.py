"""A name that has one dtype or shape after one branch and another after the other."""
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
def shift_kernel(x_ptr, y_ptr, shift, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    if pid >= shift:
        x = tl.load(x_ptr + offsets - shift * BLOCK)
    else:
        x = 0.0  # the mistake
    tl.store(y_ptr + offsets, x)


x = torch.rand(1024, device=device)
y = torch.empty_like(x)
said = error_of(lambda: shift_kernel[(4,)](x, y, 2, BLOCK=256))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_initial]
@triton.jit
def grow_kernel(x_ptr, y_ptr, rounds, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if rounds > 2:
        x = tl.exp(x.to(tl.float32))
    tl.store(y_ptr + offsets, x)


said = error_of(lambda: grow_kernel[(4,)](x.half(), y, 3, BLOCK=256))
# --8<-- [end:wrong_initial]
print(said)


# --8<-- [start:right]
@triton.jit
def shift_kernel(x_ptr, y_ptr, shift, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.zeros((BLOCK,), tl.float32)
    if pid >= shift:
        x = tl.load(x_ptr + offsets - shift * BLOCK)
    tl.store(y_ptr + offsets, x)


shift_kernel[(4,)](x, y, 2, BLOCK=256)
print(torch.equal(y, torch.cat([torch.zeros_like(x[:512]), x[:512]])))
#> True
# --8<-- [end:right]
