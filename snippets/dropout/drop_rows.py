"""Solution: drop whole rows, with one number for each."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:rows]
import triton
import triton.language as tl


@triton.jit
def drop_rows_kernel(x_ptr, y_ptr, n_columns, p, seed, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    kept = tl.rand(seed, row) >= p  # one number, for the row's own count
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask).to(tl.float32)
    y = tl.where(kept, x / (1 - p), 0.0)
    tl.store(y_ptr + row * n_columns + columns, y, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(8, 300, device=device)
y = torch.empty_like(x)
drop_rows_kernel[(8,)](x, y, 300, 0.5, seed=7, BLOCK=512)
print("rows alike inside:", bool((y == y[:, :1]).all()))
#> rows alike inside: True
print((y[:, 0] != 0).int().tolist())
#> [0, 1, 0, 1, 1, 1, 0, 1]
# --8<-- [end:rows]
