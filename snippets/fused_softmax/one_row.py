"""Softmax with one program a row: one load, one store, and everything between them on the chip."""
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
def row_softmax_kernel(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=-float("inf"))
    x = x.to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * n_columns + columns, y, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = 50 * torch.randn(100, 781, device=device)
y = torch.empty_like(x)
block = triton.next_power_of_2(781)
print("lanes a program:", block)
#> lanes a program: 1024

row_softmax_kernel[(100,)](x, y, 781, BLOCK=block)
torch.testing.assert_close(y, torch.softmax(x, dim=-1))
print("every row sums to one:", bool(((y.sum(-1) - 1).abs() < 1e-5).all()))
#> every row sums to one: True
# --8<-- [end:launch]
