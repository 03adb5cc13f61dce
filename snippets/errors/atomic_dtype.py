"""Atomic operations on memory of 16 bits."""
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
def largest_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=float("-inf"))
    tl.atomic_max(y_ptr, tl.max(x, axis=0))


x = torch.randn(1000, device=device).half()
y = torch.full((1,), float("-inf"), dtype=torch.float16, device=device)  # the mistake
said = error_of(lambda: largest_kernel[(4,)](x, y, 1000, BLOCK=256))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_count]
@triton.jit
def count_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    tl.atomic_add(y_ptr, tl.sum((x > 0).to(tl.int32), axis=0))


counted = torch.zeros(1, dtype=torch.int16, device=device)
said = error_of(lambda: count_kernel[(4,)](x, counted, 1000, BLOCK=256))
# --8<-- [end:wrong_count]
print(said)


# --8<-- [start:right]
y = torch.full((1,), float("-inf"), dtype=torch.float32, device=device)
largest_kernel[(4,)](x, y, 1000, BLOCK=256)
print(torch.equal(y.half(), x.max().view(1)))
#> True

counted = torch.zeros(1, dtype=torch.int32, device=device)
count_kernel[(4,)](x, counted, 1000, BLOCK=256)
print(counted.item() == (x > 0).sum().item())
#> True
# --8<-- [end:right]
