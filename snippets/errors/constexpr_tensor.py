"""A block's length that was computed on a tensor."""
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
def relu_kernel(x_ptr, y_ptr, row_length, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    offsets, mask = tl.program_id(0) * row_length + columns, columns < row_length
    tl.store(y_ptr + offsets, tl.maximum(tl.load(x_ptr + offsets, mask=mask), 0.0), mask=mask)


x = torch.randn(2, 1000, device=device)
y = torch.empty_like(x)
lengths = torch.tensor([700, 1000], device=device)
block = triton.next_power_of_2(lengths.max())  # the mistake
said = error_of(lambda: relu_kernel[(2,)](x, y, 1000, BLOCK=block))
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
block = triton.next_power_of_2(lengths.max().item())
relu_kernel[(2,)](x, y, 1000, BLOCK=block)
print(torch.equal(y, torch.relu(x)))
#> True
# --8<-- [end:right]
