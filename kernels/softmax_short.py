"""Softmax for short rows, several to a program so that no lane stands idle, and for rows that fill their block.

    y[i] = exp(x[i] - m) / sum_j exp(x[j] - m),    m = max_j x[j]

Where the rows fill the tile exactly, FULL makes the mask a constant, and the compiler drops it from loads and stores.
Bytes and flops are those of `kernels.softmax`.
"""

import torch
import triton
import triton.language as tl

from kernels.sizes import next_power_of_2


# --8<-- [start:kernel]
@triton.jit
def softmax_short_kernel(
    x_ptr, y_ptr, x_row_stride, y_row_stride, n_rows, n_columns, ROWS: tl.constexpr, BLOCK: tl.constexpr, FULL: tl.constexpr
):
    # This program owns ROWS neighboring rows.
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    mask = ((rows < n_rows) & (columns < n_columns)) | FULL  # [ROWS, BLOCK]
    x = tl.load(x_ptr + rows * x_row_stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=1, keep_dims=True))  # [ROWS, BLOCK]
    y = numerator / tl.sum(numerator, axis=1, keep_dims=True)  # [ROWS, BLOCK]
    tl.store(y_ptr + rows * y_row_stride + columns, y, mask=mask)
# --8<-- [end:kernel]


@triton.jit
def softmax_short_backward_kernel(
    y_ptr,
    dy_ptr,
    dx_ptr,
    y_row_stride,
    dy_row_stride,
    dx_row_stride,
    n_rows,
    n_columns,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    FULL: tl.constexpr,
):
    # This program owns ROWS neighboring rows.
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    mask = ((rows < n_rows) & (columns < n_columns)) | FULL  # [ROWS, BLOCK]
    y = tl.load(y_ptr + rows * y_row_stride + columns, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + rows * dy_row_stride + columns, mask=mask, other=0.0).to(tl.float32)
    dx = y * (dy - tl.sum(y * dy, axis=1, keep_dims=True))  # [ROWS, BLOCK]
    tl.store(dx_ptr + rows * dx_row_stride + columns, dx, mask=mask)


def fills(n_rows: int, n_columns: int, block: int) -> bool:
    """Whether rows of one block each, in tiles of 1024 elements, leave no lane without an element."""
    return n_columns == block and n_rows % max(1, 1024 // block) == 0


def softmax_short(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = x.shape
    block = next_power_of_2(n_columns)
    rows = max(1, 1024 // block)
    full = fills(n_rows, n_columns, block)
    num_warps = 1 if not full or 256 <= block <= 512 else 4 if block < 256 else 2
    grid = ((n_rows + rows - 1) // rows,)
    strides = (x.stride()[0], y.stride()[0])
    softmax_short_kernel[grid](x, y, *strides, n_rows, n_columns, ROWS=rows, BLOCK=block, FULL=full, num_warps=num_warps)
    return y


def softmax_short_backward(y: torch.Tensor, dy: torch.Tensor, dx: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = y.shape
    block = next_power_of_2(n_columns)
    full = fills(n_rows, n_columns, block)
    rows = max(1, (1024 if full else 2048) // block)
    grid = ((n_rows + rows - 1) // rows,)
    lengths = (y.stride()[0], dy.stride()[0], dx.stride()[0], n_rows, n_columns)
    softmax_short_backward_kernel[grid](y, dy, dx, *lengths, ROWS=rows, BLOCK=block, FULL=full, num_warps=4)
    return dx
