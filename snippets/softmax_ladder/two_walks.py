"""Online softmax: a row of any length, walked once for its maximum and its sum, and once to write."""
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


# --8<-- [start:kernel]
@triton.jit
def running_softmax_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row_start = tl.program_id(0).to(tl.int64) * n_columns
    m = -float("inf")  # the largest number so far
    s = 0.0  # the sum so far, taken with m subtracted
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row_start + columns, mask=mask, other=-float("inf"))
        x = x.to(tl.float32)
        new_m = tl.maximum(m, tl.max(x, axis=0))
        s = s * tl.exp(m - new_m) + tl.sum(tl.exp(x - new_m), axis=0)
        m = new_m
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row_start + columns, mask=mask)
        y = tl.exp(x.to(tl.float32) - m) / s
        tl.store(y_ptr + row_start + columns, y, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = 50 * torch.randn(3, 10_000, device=device)
y = torch.empty_like(x)
running_softmax_kernel[(3,)](x, y, 10_000, BLOCK=1024)
torch.testing.assert_close(y, torch.softmax(x, dim=-1))
print("the same as torch.softmax, ten blocks a row")
#> the same as torch.softmax, ten blocks a row
# --8<-- [end:launch]
