"""Add up the columns of a matrix, with a block that is high and narrow."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def add_columns_kernel(x_ptr, out_ptr, n_rows, n_columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, n_rows, ROWS):
        rows = start + tl.arange(0, ROWS)
        total += tl.load(x_ptr + rows[:, None] * n_columns + columns[None, :])
    tl.store(out_ptr + columns, tl.sum(total, axis=0))
# --8<-- [end:kernel]


# --8<-- [start:launch]
def add_columns(x, rows=1024, columns=1):
    n_rows, n_columns = x.shape
    out = torch.empty(n_columns, device=x.device)
    add_columns_kernel[(n_columns // columns,)](x, out, n_rows, n_columns, ROWS=rows, COLUMNS=columns)
    return out
# --8<-- [end:launch]


# --8<-- [start:main]
def main():
    x = torch.randn(4096, 32768, device="cuda")
    return lambda: add_columns(x)
# --8<-- [end:main]


if __name__ == "__main__":
    x = torch.randn(2048, 32, device="cuda" if torch.cuda.is_available() else "cpu")
    for rows, columns in ((1024, 1), (64, 32)):
        torch.testing.assert_close(add_columns(x, rows, columns), x.sum(0), rtol=1e-4, atol=1e-3)
    print("both shapes of block give PyTorch's sums")
    #> both shapes of block give PyTorch's sums
