"""A matrix times a vector: a kernel to diagnose."""
import torch
import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def times_vector_kernel(a_ptr, x_ptr, y_ptr, n_columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, n_columns, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        a = tl.load(a_ptr + rows[:, None] * n_columns + columns[None, :])
        total += a * tl.load(x_ptr + columns)[None, :]
    tl.store(y_ptr + rows, tl.sum(total, axis=1))


def times_vector(a, x, rows=64, columns=64):
    y = torch.empty(a.shape[0], device=a.device)
    times_vector_kernel[(a.shape[0] // rows,)](a, x, y, a.shape[1], ROWS=rows, COLUMNS=columns)
    return y
# --8<-- [end:kernel]
