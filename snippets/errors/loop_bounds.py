"""A number of rounds that has a fraction."""
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
def sum_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(n_elements / BLOCK):  # the mistake
        offsets = i * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    tl.store(y_ptr, tl.sum(total))


x = torch.ones(1000, device=device)
y = torch.zeros(1, device=device)
said = error_of(lambda: sum_kernel[(1,)](x, y, 1000, BLOCK=256))
# --8<-- [end:wrong]
print(said)
print(y.item())


# --8<-- [start:right]
@triton.jit
def sum_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(tl.cdiv(n_elements, BLOCK)):
        offsets = i * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    tl.store(y_ptr, tl.sum(total))


sum_kernel[(1,)](x, y, 1000, BLOCK=256)
print(torch.allclose(y, x.sum()))
#> True
# --8<-- [end:right]
