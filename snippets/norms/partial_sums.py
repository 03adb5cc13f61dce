"""Sums down the columns: programs that take many rows each, and one partial sum a program."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

# --8<-- [start:kernel]
@triton.jit
def partial_sums_kernel(dy_ptr, partials_ptr, n_rows, n_columns, BLOCK: tl.constexpr):
    # This program owns every num_programs-th row, and one row of partial sums.
    program = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(program, n_rows, tl.num_programs(0)):
        dy = tl.load(dy_ptr + row * n_columns + columns, mask=mask, other=0.0)
        total += dy.to(tl.float32)
    tl.store(partials_ptr + program * n_columns + columns, total, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
dy = torch.randn(1000, 300, device=device)
partials = torch.empty(8, 300, device=device)
partial_sums_kernel[(8,)](dy, partials, 1000, 300, BLOCK=512)
dbias = partials.sum(0)
torch.testing.assert_close(dbias, dy.sum(0), rtol=1e-4, atol=1e-4)
print("8 programs, 8 partial sums: right")
#> 8 programs, 8 partial sums: right
# --8<-- [end:launch]
