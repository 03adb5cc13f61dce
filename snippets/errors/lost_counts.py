"""Programs that load, add and store the same number, so that counts are lost on a GPU."""
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
def count_positive_kernel(x_ptr, count_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    positive = tl.sum((x > 0).to(tl.int32), axis=0)
    tl.store(count_ptr, tl.load(count_ptr) + positive)  # the mistake


x = torch.randn(10_000, device=device)
count = torch.zeros(1, dtype=torch.int32, device=device)
grid = (triton.cdiv(10_000, 64),)
said = error_of(lambda: count_positive_kernel[grid](x, count, 10_000, BLOCK=64))
# --8<-- [end:wrong]
print(said)
print(count.item() == (x > 0).sum().item())


# --8<-- [start:right]
@triton.jit
def count_positive_kernel(x_ptr, count_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    positive = tl.sum((x > 0).to(tl.int32), axis=0)
    tl.atomic_add(count_ptr, positive)


count.zero_()
count_positive_kernel[grid](x, count, 10_000, BLOCK=64)
print(count.item() == (x > 0).sum().item())
#> True
# --8<-- [end:right]
