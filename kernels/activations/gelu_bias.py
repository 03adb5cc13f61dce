"""GELU of a matrix with a bias added to every row, and the gradient of that bias.

    y[r, c] = gelu(x[r, c] + bias[c]),    dbias[c] = sum_r dx[r, c]

The backward pass adds up its columns while it has them: each program walks down a strip of the matrix and leaves one row of
sums behind, and these few rows are added up at the end. The order of the additions never changes. Bytes and flops are
those of `kernels.gelu`, and the bias.
"""

import torch
import triton
import triton.language as tl

from kernels.activations.activation import activated, activated_with_slope
from kernels.common.sizes import next_power_of_2


@triton.jit
def gelu_bias_kernel(
    x_ptr,
    bias_ptr,
    y_ptr,
    n_rows,
    n_columns,
    KIND: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
):
    # This program owns ROWS rows of BLOCK columns.
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    mask = ((rows < n_rows) & (columns < n_columns)) | EVEN  # [ROWS, BLOCK]
    bias = tl.load(bias_ptr + columns, mask=(columns < n_columns) | EVEN).to(tl.float32)  # [1, BLOCK]
    x = tl.load(x_ptr + rows * n_columns + columns, mask=mask).to(tl.float32)  # [ROWS, BLOCK]
    tl.store(y_ptr + rows * n_columns + columns, activated(x + bias, KIND), mask=mask)


@triton.jit
def gelu_bias_backward_kernel(
    x_ptr,
    bias_ptr,
    dy_ptr,
    dx_ptr,
    sums_ptr,
    n_rows,
    n_columns,
    KIND: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
):
    # This program owns BLOCK columns, and of their rows every num_programs(0)-th group of ROWS.
    columns = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    column_mask = (columns < n_columns) | EVEN  # [1, BLOCK]
    bias = tl.load(bias_ptr + columns, mask=column_mask, other=0.0).to(tl.float32)  # [1, BLOCK]
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    strip = tl.program_id(0).to(tl.int64)
    for first in range(strip * ROWS, n_rows, tl.num_programs(0) * ROWS):
        rows = first + tl.arange(0, ROWS)[:, None].to(tl.int64)  # [ROWS, 1]
        mask = ((rows < n_rows) & (columns < n_columns)) | EVEN  # [ROWS, BLOCK]
        offsets = rows * n_columns + columns  # [ROWS, BLOCK]
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        _, slope = activated_with_slope(x + bias, KIND)
        dx = dy * slope  # [ROWS, BLOCK]
        tl.store(dx_ptr + offsets, dx, mask=mask)
        total += dx
    sums = tl.sum(total, axis=0, keep_dims=True)  # [1, BLOCK]
    tl.store(sums_ptr + strip * n_columns + columns, sums, mask=column_mask)


@triton.jit
def gelu_bias_sums_kernel(sums_ptr, dbias_ptr, n_sums, n_columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    # This program owns BLOCK columns of the sums, and adds them up in their order.
    columns = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for first in range(0, n_sums, ROWS):
        rows = first + tl.arange(0, ROWS)[:, None].to(tl.int64)  # [ROWS, 1]
        mask = (rows < n_sums) & (columns < n_columns)  # [ROWS, BLOCK]
        total += tl.load(sums_ptr + rows * n_columns + columns, mask=mask, other=0.0)
    tl.store(dbias_ptr + columns, tl.sum(total, axis=0, keep_dims=True), mask=columns < n_columns)


def gelu_bias_forward(x: torch.Tensor, bias: torch.Tensor, y: torch.Tensor, kind: str = "none") -> torch.Tensor:
    n_columns = x.shape[-1]
    n_rows = x.numel() // n_columns
    block = min(1024, next_power_of_2(n_columns))
    rows = 2048 // block
    full = n_rows % rows == 0 and n_columns % block == 0
    grid = ((n_rows + rows - 1) // rows, (n_columns + block - 1) // block)
    if bias.is_neg() or not bias.is_contiguous():
        bias = bias.resolve_neg().contiguous()
    gelu_bias_kernel[grid](x, bias, y, n_rows, n_columns, KIND=kind, ROWS=rows, BLOCK=block, EVEN=full, num_warps=4)
    return y


def gelu_bias_backward(
    x: torch.Tensor, bias: torch.Tensor, dy: torch.Tensor, dx: torch.Tensor, kind: str = "none"
) -> torch.Tensor:
    """Fill `dx`, and return the gradient of the bias."""
    n_columns = x.shape[-1]
    n_rows = x.numel() // n_columns
    # Rows whose length 16 does not divide are loaded element by element: fewer of them fare better.
    block, programs = (2048, 512) if n_columns % 16 else (1024, 1024)
    block = min(block, next_power_of_2(n_columns))
    rows = 2048 // block
    full = n_rows % rows == 0 and n_columns % block == 0
    strips = (n_columns + block - 1) // block
    groups = max(1, min((n_rows + rows - 1) // rows, programs // strips))
    sums = torch.empty((groups, n_columns), dtype=torch.float32, device=x.device)
    meta = {"KIND": kind, "ROWS": rows, "BLOCK": block, "EVEN": full, "num_warps": 4}
    grid = (groups, strips)
    gelu_bias_backward_kernel[grid](x, bias.resolve_neg().contiguous(), dy, dx, sums, n_rows, n_columns, **meta)
    dbias = torch.empty(bias.shape, dtype=bias.dtype, device=bias.device)
    gelu_bias_sums_kernel[((n_columns + 31) // 32,)](sums, dbias, groups, n_columns, ROWS=64, BLOCK=32, num_warps=4)
    return dbias
