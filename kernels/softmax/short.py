"""Softmax for short rows, several to a program so that no lane stands idle, and for rows of two other kinds.

    y[i] = exp(x[i] - m) / sum_j exp(x[j] - m),    m = max_j x[j]

Where the rows fill the tile exactly, EVEN makes the mask a constant, and the compiler drops it from loads and stores. Where 16
does not divide their length, the compiler cannot know how many elements may be loaded at a time: it is told, by passing lengths
and strides in vectors of VECTOR elements. Bytes and flops are those of `kernels.softmax`.
"""

import math

import torch
import triton
import triton.language as tl

from kernels.common.sizes import next_power_of_2


# --8<-- [start:kernel]
@triton.jit
def softmax_short_kernel(
    x_ptr,
    y_ptr,
    x_row_stride,
    y_row_stride,
    n_rows,
    n_columns,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
    VECTOR: tl.constexpr,
):
    # This program owns ROWS neighboring rows.
    n_columns *= VECTOR
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    mask = ((rows < n_rows) & (columns < n_columns)) | EVEN  # [ROWS, BLOCK]
    x = tl.load(x_ptr + rows * x_row_stride * VECTOR + columns, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=1, keep_dims=True))  # [ROWS, BLOCK]
    y = numerator / tl.sum(numerator, axis=1, keep_dims=True)  # [ROWS, BLOCK]
    tl.store(y_ptr + rows * y_row_stride * VECTOR + columns, y, mask=mask)
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
    EVEN: tl.constexpr,
    VECTOR: tl.constexpr,
    RELOAD: tl.constexpr,
):
    # This program owns ROWS neighboring rows.
    n_columns *= VECTOR
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    mask = ((rows < n_rows) & (columns < n_columns)) | EVEN  # [ROWS, BLOCK]
    y_ptrs = y_ptr + rows * y_row_stride * VECTOR + columns  # [ROWS, BLOCK]
    dy_ptrs = dy_ptr + rows * dy_row_stride * VECTOR + columns  # [ROWS, BLOCK]
    y = tl.load(y_ptrs, mask=mask, other=0.0, eviction_policy="evict_last" if RELOAD else "").to(tl.float32)
    dy = tl.load(dy_ptrs, mask=mask, other=0.0, eviction_policy="evict_last" if RELOAD else "").to(tl.float32)
    dot = tl.sum(y * dy, axis=1, keep_dims=True)  # [ROWS, 1]
    if RELOAD:
        # A second load, from a cache, costs less than the registers to keep the first.
        y = tl.load(y_ptrs, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        dy = tl.load(dy_ptrs, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    tl.store(dx_ptr + rows * dx_row_stride * VECTOR + columns, y * (dy - dot), mask=mask)


def fills(n_rows: int, n_columns: int, block: int) -> bool:
    """Whether rows of one block each, in tiles of 1024 elements, leave no lane without an element."""
    return n_columns == block and n_rows % max(1, 1024 // block) == 0


def softmax_vectors(*rows: torch.Tensor) -> tuple[int, ...]:
    """How many elements may be loaded at a time, up to sixteen bytes; and the strides and the length of the rows in these."""
    lengths = (*(tensor.stride()[0] for tensor in rows), rows[0].shape[1])
    vector = math.gcd(16 // rows[0].element_size(), *lengths)
    return vector, *(length // vector for length in lengths)


def softmax_short(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = x.shape
    vector, x_stride, y_stride, length = softmax_vectors(x, y)
    block = next_power_of_2(n_columns)
    rows = max(1, 1024 // block)
    full = fills(n_rows, n_columns, block)
    if full:
        num_warps = 1 if 256 <= block <= 512 else 4 if block < 256 else 2
    else:
        num_warps = 1 if block <= 256 else 2 if block <= 1024 else 4 if block <= 4096 else 8 if block == 8192 else 32
        if block == 1024 and vector == 1 and x.element_size() == 4:  # float32 that is loaded element by element
            num_warps = 4
    meta = {"ROWS": rows, "BLOCK": block, "EVEN": full, "VECTOR": vector, "num_warps": num_warps}
    softmax_short_kernel[((n_rows + rows - 1) // rows,)](x, y, x_stride, y_stride, n_rows, length, **meta)
    return y


def softmax_short_backward(y: torch.Tensor, dy: torch.Tensor, dx: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = y.shape
    vector, *strides, length = softmax_vectors(y, dy, dx)
    block = next_power_of_2(n_columns)
    full = fills(n_rows, n_columns, block)
    rows = max(1, (1024 if full or block >= 512 else 2048) // block)
    again = full and block >= 1024  # what a row would fill of the registers is better left to other programs
    if again:
        num_warps = block // 256
    elif full or block <= 256:
        num_warps = 4
    else:
        num_warps = 2 if block <= 1024 else 4 if block <= 4096 else 8 if block == 8192 and vector > 1 else 16
    meta = {"ROWS": rows, "BLOCK": block, "EVEN": full, "VECTOR": vector, "RELOAD": again, "num_warps": num_warps}
    if block == 8192 and not full:
        # So that a multiprocessor has room for two programs of sixteen warps, or three of eight.
        meta["maxnreg"] = 64 if vector == 1 else 80
    softmax_short_backward_kernel[((n_rows + rows - 1) // rows,)](y, dy, dx, *strides, n_rows, length, **meta)
    return dx
