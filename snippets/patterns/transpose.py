"""A template for a transposed tile: load a tile, turn it, store it where it belongs."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def transpose_kernel(
    x_ptr, out_ptr, n_rows, n_columns, x_row_stride, out_row_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M
    column = tl.program_id(1).to(tl.int64) * BLOCK_N
    rows = row + tl.arange(0, BLOCK_M)[:, None]
    columns = column + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < n_rows) & (columns < n_columns)
    x = tl.load(x_ptr + rows * x_row_stride + columns, mask=mask)  # [BLOCK_M, BLOCK_N]
    out_rows = column + tl.arange(0, BLOCK_N)[:, None]
    out_columns = row + tl.arange(0, BLOCK_M)[None, :]
    out_mask = (out_rows < n_columns) & (out_columns < n_rows)
    out_offsets = out_rows * out_row_stride + out_columns
    tl.store(out_ptr + out_offsets, tl.trans(x), mask=out_mask)  # [BLOCK_N, BLOCK_M]


def transpose(x):
    x = x.contiguous()
    n_rows, n_columns = x.shape
    out = torch.empty(n_columns, n_rows, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n_rows, 64), triton.cdiv(n_columns, 64))
    transpose_kernel[grid](
        x, out, n_rows, n_columns, x.stride(0), out.stride(0), BLOCK_M=64, BLOCK_N=64
    )
    return out
# --8<-- [end:kernel]


# --8<-- [start:use]
device = "cuda" if torch.cuda.is_available() else "cpu"
for shape in ((128, 64), (100, 130), (1, 300)):
    x = torch.randn(shape, device=device)
    assert torch.equal(transpose(x), x.T)
print("transpose agrees with PyTorch")
#> transpose agrees with PyTorch
# --8<-- [end:use]
