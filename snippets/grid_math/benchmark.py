"""What 64-bit offsets cost: one copy of a matrix, tile by tile, with offsets of 32 and of 64 bits."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark


@triton.jit
def copy_tile_kernel(
    x_ptr, out_ptr, n_rows, n_columns, row_stride,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, WIDE: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    if WIDE:
        pid_m = pid_m.to(tl.int64)
        pid_n = pid_n.to(tl.int64)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    offsets = rows * row_stride + columns
    mask = (rows < n_rows) & (columns < n_columns)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def copy(x, wide):
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.shape[0], 32), triton.cdiv(x.shape[1], 128))
    copy_tile_kernel[grid](x, out, *x.shape, x.stride(0), BLOCK_M=32, BLOCK_N=128, WIDE=wide)
    return out


benchmark = Benchmark()
for n_rows, n_columns in ((2048, 2048), (16384, 16384)):
    x = torch.randn(n_rows, n_columns, device="cuda")
    benchmark.case(
        "tile_copy", "fwd", f"{n_rows}x{n_columns}", x.dtype, moved=2 * x.nbytes, flops=None,
        implementations={
            "blockwise": lambda: copy(x, wide=True),
            "int32": lambda: copy(x, wide=False),
        },
        expected=x,
    )
benchmark.finish()
