"""No mask: every row sum takes in the beginning of the next row."""
# sanitizer: memcheck
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



# --8<-- [start:missing_mask]
@triton.jit
def sum_wrong_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n_columns + columns)  # the mistake
    tl.store(out_ptr + tl.program_id(0), tl.sum(x, axis=0))


@triton.jit
def sum_right_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + tl.program_id(0) * n_columns + columns, mask=mask, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x, axis=0))


device = "cuda" if torch.cuda.is_available() else "cpu"
for n_columns in (1024, 1000):
    x = torch.ones(8, n_columns, device=device)[:4]  # and more behind
    for kernel in (sum_wrong_kernel, sum_right_kernel):
        out = torch.full((4,), float("nan"), device=device)
        kernel[(4,)](x, out, n_columns, BLOCK=1024)
        equal = torch.equal(out, x.sum(1))
        print(n_columns, kernel.__name__, out.tolist(), equal)
        #> 1024 sum_wrong_kernel [1024.0, 1024.0, 1024.0, 1024.0] True
        #> 1024 sum_right_kernel [1024.0, 1024.0, 1024.0, 1024.0] True
        #> 1000 sum_wrong_kernel [1024.0, 1024.0, 1024.0, 1024.0] False
        #> 1000 sum_right_kernel [1000.0, 1000.0, 1000.0, 1000.0] True
# --8<-- [end:missing_mask]
        assert equal == (kernel is sum_right_kernel or n_columns == 1024)
