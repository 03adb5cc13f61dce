"""Why the maximum is subtracted: without it, exp overflows."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.softmax.softmax import softmax_kernel


# --8<-- [start:overflow]
@triton.jit
def unshifted_kernel(x_ptr, y_ptr, row_stride, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    offsets = tl.program_id(0) * row_stride + columns
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf"))
    numerator = tl.exp(x)  # the mistake: no maximum is subtracted
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + offsets, y, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 100.0]], device=device)
y = torch.empty_like(x)
unshifted_kernel[(2,)](x, y, 3, 3, BLOCK=4)
print(y.isnan().tolist())
#> [[False, False, False], [False, False, True]]
# --8<-- [end:overflow]

softmax_kernel[(2,)](x, y, 3, 3, 3, BLOCK=4)
print(y.isnan().any().item())
#> False
assert not y.isnan().any()
