"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def double_tiles(x_ptr, y_ptr, n_columns, stride, BLOCK: tl.constexpr):
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + tl.program_id(0) * stride + columns, mask=mask)
    tl.store(y_ptr + tl.program_id(0) * stride + columns, 2 * x, mask=mask)


@triton.jit
def shared_mean(x_ptr, y_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + tl.program_id(0) * n_columns + columns, mask=mask, other=0.0)
    tl.store(y_ptr + tl.program_id(0) * n_columns + columns, x - tl.sum(x, axis=0) / BLOCK, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"

# A grid that is rounded down: which part of the result is wrong?
x = 1 + torch.rand(4, 100, device=device)
y = torch.full_like(x, float("nan"))
double_tiles[(4, 100 // 32)](x, y, 100, 100, BLOCK=32)
wrong = ~torch.isclose(y, 2 * x)
rows, columns = wrong.any(dim=1).nonzero().flatten().tolist(), wrong.any(dim=0).nonzero().flatten().tolist()
print(f"where: {'all' if len(rows) == 4 else 'some'} rows, columns {columns[0]} to {columns[-1]}")

# A mean that is too small, taken off: what do the wrong numbers share?
y = torch.empty_like(x)
shared_mean[(4,)](x, y, 100, BLOCK=128)
error = y - (x - x.mean(dim=1, keepdim=True))
print(f"share: {'one difference a row' if torch.allclose(error, error[:, :1].expand_as(error), atol=1e-5) else 'nothing'}")

# The smallest row that still shows it.
for n_columns in range(1, 9):
    block = triton.next_power_of_2(n_columns)
    x = torch.ones(1, n_columns, device=device)
    y = torch.empty_like(x)
    shared_mean[(1,)](x, y, n_columns, BLOCK=block)
    if not torch.allclose(y, torch.zeros_like(y)):
        print(f"smallest: {n_columns}")
        break
