"""Add up the columns of a matrix, by default with a block that is high and narrow."""
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
