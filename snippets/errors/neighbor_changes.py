"""A store with a mask leaves the tensor behind alone."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:right]
@triton.jit
def double_kernel(x_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


memory = torch.ones(20, device=device)
x, neighbor = memory[:10], memory[10:]
double_kernel[(3,)](x, 10, BLOCK=4)
print(x.tolist())
#> [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]
print(torch.equal(neighbor, torch.ones_like(neighbor)))
#> True
# --8<-- [end:right]
