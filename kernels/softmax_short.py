"""Softmax for short rows: a program takes several rows at once, so that none of its lanes stand idle.

    y[i] = exp(x[i] - m) / sum_j exp(x[j] - m),    m = max_j x[j]

Bytes and flops are those of `kernels.softmax`.
"""

import torch
import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def softmax_short_kernel(x_ptr, y_ptr, x_row_stride, y_row_stride, n_rows, n_columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    # This program owns ROWS neighboring rows.
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    mask = (rows < n_rows) & (columns < n_columns)  # [ROWS, BLOCK]
    x = tl.load(x_ptr + rows * x_row_stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=1, keep_dims=True))  # [ROWS, BLOCK]
    y = numerator / tl.sum(numerator, axis=1, keep_dims=True)  # [ROWS, BLOCK]
    tl.store(y_ptr + rows * y_row_stride + columns, y, mask=mask)
# --8<-- [end:kernel]


@triton.jit
def softmax_short_backward_kernel(
    y_ptr, dy_ptr, dx_ptr, y_row_stride, dy_row_stride, dx_row_stride, n_rows, n_columns, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    # This program owns ROWS neighboring rows.
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    mask = (rows < n_rows) & (columns < n_columns)  # [ROWS, BLOCK]
    y = tl.load(y_ptr + rows * y_row_stride + columns, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + rows * dy_row_stride + columns, mask=mask, other=0.0).to(tl.float32)
    dx = y * (dy - tl.sum(y * dy, axis=1, keep_dims=True))  # [ROWS, BLOCK]
    tl.store(dx_ptr + rows * dx_row_stride + columns, dx, mask=mask)


def softmax_short(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = x.shape
    block = triton.next_power_of_2(n_columns)
    rows = 1024 // block
    grid = ((n_rows + rows - 1) // rows,)
    softmax_short_kernel[grid](x, y, x.stride(0), y.stride(0), n_rows, n_columns, ROWS=rows, BLOCK=block, num_warps=1)
    return y


def softmax_short_backward(y: torch.Tensor, dy: torch.Tensor, dx: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = y.shape
    block = triton.next_power_of_2(n_columns)
    rows = 2048 // block
    grid = ((n_rows + rows - 1) // rows,)
    strides = (y.stride(0), dy.stride(0), dx.stride(0))
    softmax_short_backward_kernel[grid](y, dy, dx, *strides, n_rows, n_columns, ROWS=rows, BLOCK=block, num_warps=4)
    return dx
