"""The largest number of every block of a vector, whose last block is not full."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:largest]
@triton.jit
def block_largest_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf"))
    tl.store(out_ptr + pid, tl.max(x, axis=0))  # one number a program


device = "cuda" if torch.cuda.is_available() else "cpu"
numbers = [-3.0, -1.0, -2.0, -5.0, -4.0, -8.0, -9.0, -6.0, -7.0, -2.0]
x = torch.tensor(numbers, device=device)
out = torch.empty(3, device=device)
block_largest_kernel[(3,)](x, out, 10, BLOCK=4)
print(out.tolist())
#> [-1.0, -4.0, -2.0]
# --8<-- [end:largest]
