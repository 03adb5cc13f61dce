"""A tolerance so wide that a kernel which forgets an element of every row passes the test."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("no CUDA device: running under Triton's interpreter")
# --8<-- [start:imports]
device = "cuda" if torch.cuda.is_available() else "cpu"

import triton
import triton.language as tl

from kernels.softmax import softmax
# --8<-- [end:imports]

# --8<-- [start:wrong]
@triton.jit
def forgetful_softmax_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    # This program owns one row, and leaves its last element out of the sum.
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))  # [BLOCK]
    total = tl.sum(tl.where(columns < n_columns - 1, numerator, 0.0), axis=0)
    tl.store(y_ptr + row * n_columns + columns, numerator / total, mask=mask)
# --8<-- [end:wrong]


# --8<-- [start:tolerance]
torch.manual_seed(0)
x = torch.randn(4, 8000).to(device)
y = torch.empty_like(x)
forgetful_softmax_kernel[(4,)](x, y, 8000, BLOCK=8192)
right = torch.softmax(x.double(), dim=-1).float()

print(torch.allclose(y, right, rtol=1e-2, atol=1e-2))
#> True
print(torch.allclose(y, right, rtol=1e-3, atol=0))
#> True
print(torch.allclose(y, right, rtol=2e-6, atol=0))
#> False
print(torch.allclose(softmax(x), right, rtol=2e-6, atol=0))
#> True
# --8<-- [end:tolerance]
worst = ((y - right).abs() / right).max().item()
print(f"largest relative error: {worst:.1e}")
