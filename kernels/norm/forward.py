"""The forward pass of layer norm and RMS norm, with a tile of whole rows on chip.

    y[i] = (x[i] - mean) * rstd * weight[i] + bias[i],    rstd = 1 / sqrt(variance + eps)

RMS norm is the same without the mean: CENTERED is then False, and the variance is the mean square. The variance is
taken from the centered row, after the mean is known, so that a large mean costs it no digits. Rows that are not kept
on chip are walked along twice (forward_long.py) or split over programs (forward_split.py).

Row lengths and strides are passed in vectors of VECTOR elements. So the compiler knows that VECTOR divides them, and loads
sixteen bytes at a time also where 8 divides them but not 16, which is all that it would find out by itself; and eight or four
bytes where only 4 or 2 does.
"""

import functools
import math
from collections.abc import Callable

import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def norm_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    mean_ptr,
    rstd_ptr,
    x_row_stride,
    y_row_stride,
    n_rows,
    n_columns,
    eps,
    CENTERED: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
    VECTOR: tl.constexpr,
):
    # This program owns ROWS neighboring rows.
    n_columns *= VECTOR
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    row_mask = (rows < n_rows) | EVEN  # [ROWS, 1]
    column_mask = (columns < n_columns) | EVEN  # [1, BLOCK]
    mask = row_mask & column_mask  # [ROWS, BLOCK]
    x = tl.load(x_ptr + rows * x_row_stride * VECTOR + columns, mask=mask, other=0.0).to(tl.float32)
    if CENTERED:
        # Rounded as exactly as can be: what the mean is off by, every element is off by.
        mean = tl.div_rn(tl.sum(x, axis=1, keep_dims=True), n_columns * 1.0)  # [ROWS, 1]
        x = tl.where(mask, x - mean, 0.0)
    # x * x would be fused with the addition that follows it, and two lanes that add each other's square would round
    # different ones: the lanes of a row would disagree in the last bit. An addition of zero cannot be fused any further.
    squares = tl.fma(x, x, tl.zeros_like(x))  # [ROWS, BLOCK]
    rstd = tl.rsqrt(tl.sum(squares, axis=1, keep_dims=True) / n_columns + eps)  # [ROWS, 1]
    y = x * rstd  # [ROWS, BLOCK]
    if CENTERED and VECTOR == 1:
        # Zero is added, but the compiler cannot know: it takes the parameters for as unaligned as x is. Otherwise it lays
        # them out for loads of sixteen bytes, and moves y through shared memory to meet them there and back again.
        columns += n_columns // (n_columns + 1)
    if weight_ptr is not None:
        y *= tl.load(weight_ptr + columns, mask=column_mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
    if bias_ptr is not None:
        y += tl.load(bias_ptr + columns, mask=column_mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
    tl.store(y_ptr + rows * y_row_stride * VECTOR + columns, y, mask=mask)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + rows, rstd, mask=row_mask)
    if CENTERED and mean_ptr is not None:
        tl.store(mean_ptr + rows, mean, mask=row_mask)
# --8<-- [end:kernel]


def norm_vector(element_size: int, *lengths: int) -> int:
    """The elements of the widest load, of sixteen bytes at most, that divides the length of a row and all strides."""
    return math.gcd(16 // element_size, *lengths)


@functools.cache
def norm_block(n_columns: int, x_stride: int, y_stride: int, element_size: int, centered: bool) -> tuple[int, int, int, int]:
    """The rows of a program, the elements of its block along a row, those of a vector, and the warps."""
    vector = norm_vector(element_size, n_columns, x_stride, y_stride)
    block = triton.next_power_of_2(n_columns)
    rows = max(1, (2048 if block == 1024 else 1024) // block)
    num_warps = 1 if block <= 512 else 2 if block == 1024 else 4 if block == 2048 else 8 if block <= 8192 or not centered else 16
    return rows, block, vector, num_warps


@functools.lru_cache(maxsize=4096)
def norm_tile_launch(n_rows: int, n_columns: int, x_stride: int, y_stride: int, element_size: int, centered: bool) -> Callable:
    """The launch for rows of these sizes and strides, to be called with them."""
    rows, block, vector, num_warps = norm_block(n_columns, x_stride, y_stride, element_size, centered)
    if block == 1024 and n_rows <= 1024:
        rows = 1  # there is room for a program each
    lengths = (x_stride // vector, y_stride // vector, n_rows, n_columns // vector)
    full = n_columns == block and n_rows % rows == 0
    meta = {"CENTERED": centered, "ROWS": rows, "BLOCK": block, "EVEN": full, "VECTOR": vector, "num_warps": num_warps}
    run = norm_kernel[((n_rows + rows - 1) // rows,)]
    return lambda x, weight, bias, y, mean, rstd, eps: run(x, weight, bias, y, mean, rstd, *lengths, eps, **meta)


def norm_tile(x, weight, bias, y, mean, rstd, eps: float = 1e-5, centered: bool = True) -> None:
    launch = norm_tile_launch(*x.shape, x.stride()[0], y.stride()[0], x.element_size(), centered)
    launch(x, weight, bias, y, mean, rstd, eps)
