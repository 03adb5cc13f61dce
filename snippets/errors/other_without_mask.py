"""A filler for lanes that no mask switches off."""
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
def sum_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, other=0.0)  # the mistake
    tl.store(out_ptr, tl.sum(x, axis=0))


x = torch.rand(100, device=device)
out = torch.empty(1, device=device)
said = error_of(lambda: sum_kernel[(1,)](x, out, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def sum_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    tl.store(out_ptr, tl.sum(x, axis=0))


sum_kernel[(1,)](x, out, 100, BLOCK=128)
print(torch.allclose(out, x.sum()))
#> True
# --8<-- [end:right]
