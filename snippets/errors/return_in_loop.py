"""A loop that is left with return."""
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
def has_nan_kernel(x_ptr, y_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    for start in range(0, N, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < N, other=0.0)
        if tl.max((x != x).to(tl.int32)) == 1:
            tl.store(y_ptr, 1)
            return  # the mistake
    tl.store(y_ptr, 0)


x = torch.rand(1000, device=device)
x[300] = float("nan")
y = torch.zeros(1, dtype=torch.int32, device=device)
said = error_of(lambda: has_nan_kernel[(1,)](x, y, N=1000, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def has_nan_kernel(x_ptr, y_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    if tl.program_id(0) > 0:
        return  # outside of a loop it is fine
    found = 0
    for start in range(0, N, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < N, other=0.0)
        found |= tl.max((x != x).to(tl.int32))
    tl.store(y_ptr, found)


has_nan_kernel[(1,)](x, y, N=1000, BLOCK=128)
print(bool(y.item()) == x.isnan().any().item())
#> True
# --8<-- [end:right]
