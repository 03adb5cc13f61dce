"""A template for a reduction along rows of any length: one program a row, one block at a time."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def row_sum_kernel(x_ptr, out_ptr, row_stride, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row * row_stride + columns, mask=mask, other=0.0)
        total += x.to(tl.float32)  # your reduction, lane by lane
    tl.store(out_ptr + row, tl.sum(total, axis=0))  # and across the lanes, once


def row_sum(x):
    x = x.contiguous()
    out = torch.empty(x.shape[0], device=x.device)
    row_sum_kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=2048)
    return out
# --8<-- [end:kernel]


device = "cuda" if torch.cuda.is_available() else "cpu"
for n_columns in (1, 700, 2048, 10_000):
    x = torch.randn(9, n_columns, device=device)
    torch.testing.assert_close(row_sum(x), x.sum(dim=1), rtol=1e-4, atol=1e-4)
print("row_sum agrees with PyTorch")
#> row_sum agrees with PyTorch
