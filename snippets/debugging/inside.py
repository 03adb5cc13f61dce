"""Two more outputs, for values from inside a kernel, and their references: the first that differs names the line."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:inside]
@triton.jit
def scale_rows_seen_kernel(x_ptr, weight_ptr, y_ptr, seen_ptr, n_columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0)
    tl.store(seen_ptr + 2 * row, tl.sum(x * x, axis=0))  # look at this
    mean = tl.sum(x * x, axis=0) / BLOCK
    tl.store(seen_ptr + 2 * row + 1, mean)  # and at this
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0)
    y = x * tl.rsqrt(mean + eps) * weight
    tl.store(y_ptr + row * n_columns + columns, y, mask=mask)


x, weight = 1 + torch.rand(8, 1000, device=device), 1 + torch.rand(1000, device=device)
y, seen = torch.empty_like(x), torch.full((8, 2), float("nan"), device=device)
scale_rows_seen_kernel[(8,)](x, weight, y, seen, 1000, 1e-6, BLOCK=1024)
squares = x * x
for name, inside, expected in (
    ("sum", seen[:, 0], squares.sum(dim=1)),
    ("mean", seen[:, 1], squares.mean(dim=1)),
):
    print(f"{name}: {'right' if torch.allclose(inside, expected, rtol=1e-4) else 'wrong'}")
    #> sum: right
    #> mean: wrong
# --8<-- [end:inside]
