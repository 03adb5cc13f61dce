"""What goes wrong when the masked lanes are filled with zero instead of minus infinity."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:zero_fill]
@triton.jit
def zero_filled_kernel(x_ptr, y_ptr, row_stride, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    offsets = tl.program_id(0) * row_stride + columns
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)  # the mistake
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + offsets, y, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.full((1, 5), -1.0, device=device)
y = torch.empty_like(x)
zero_filled_kernel[(1,)](x, y, 5, 5, BLOCK=8)
print("the row sums to", round(y.sum().item(), 3))
#> the row sums to 0.38
# --8<-- [end:zero_fill]
assert y.sum() < 0.5, "the mistake this program shows did not happen"
