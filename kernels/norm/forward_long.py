"""The forward pass of layer norm and RMS norm for rows that are not kept on chip: two walks along the row.

They are too long for it; or their length has them loaded number by number, and the addresses take the registers that would
hold them.

Walking the row, each lane keeps the mean of what it has met and the sum of squared distances from that mean, and
moves both with every new element (Welford):

    d = x - mean,    mean' = mean + d / count,    squares' = squares + d (x - mean')

The lanes are combined at the end. The second walk reads the row again, mostly out of a cache, and writes the result.

Source: B. P. Welford, "Note on a method for calculating corrected sums of squares and products", 1962.
"""

import functools

import triton
import triton.language as tl

from kernels.norm.forward import norm_vector


# --8<-- [start:kernel]
@triton.jit
def norm_long_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    mean_ptr,
    rstd_ptr,
    x_row_stride,
    y_row_stride,
    n_columns,
    eps,
    CENTERED: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
    VECTOR: tl.constexpr,
):
    # This program owns one row, and holds one BLOCK of it at a time.
    n_columns *= VECTOR
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)  # [BLOCK]
    x_row_ptr = x_ptr + row * x_row_stride * VECTOR
    means = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_columns, BLOCK):
        mask = (start + lanes < n_columns) | EVEN  # [BLOCK]
        x = tl.load(x_row_ptr + start + lanes, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        if CENTERED:
            distance = tl.where(mask, x - means, 0.0)
            means += distance * (1.0 / (start // BLOCK + 1))
            squares += distance * (x - means)
        else:
            squares += x * x
    mean = 0.0
    if CENTERED:
        counts = (n_columns - lanes + BLOCK - 1) // BLOCK  # [BLOCK], how many elements a lane has met
        mean = tl.sum(means * counts, axis=0) / n_columns
        squares += counts * (means - mean) * (means - mean)
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / n_columns + eps)
    for start in range(0, n_columns, BLOCK):
        columns = start + lanes  # [BLOCK]
        mask = (columns < n_columns) | EVEN  # [BLOCK]
        x = tl.load(x_row_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        y = (x - mean) * rstd
        if weight_ptr is not None:
            y *= tl.load(weight_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        if bias_ptr is not None:
            y += tl.load(bias_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        tl.store(y_ptr + row * y_row_stride * VECTOR + columns, y, mask=mask, eviction_policy="evict_first")
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd)
    if CENTERED and mean_ptr is not None:
        tl.store(mean_ptr + row, mean)
# --8<-- [end:kernel]


@functools.lru_cache(maxsize=4096)
def norm_long_plan(n_columns: int, x_stride: int, y_stride: int, element_size: int, centered: bool) -> tuple:
    """The lengths and the constants of a launch."""
    vector = norm_vector(element_size, n_columns, x_stride, y_stride)
    if vector == 1:
        # Every number is loaded by itself: few at a time, so that few registers hold their addresses.
        row_bytes = n_columns * element_size
        block, warps_a_byte = (512, 2) if n_columns <= 8192 else (1024, 4) if row_bytes <= 49152 else (2048, 16 // element_size)
        num_warps = warps_a_byte * element_size
    elif centered:
        block, num_warps = 4096 if n_columns <= 32768 else 8192, 16
    else:
        block, num_warps = (4096, 16) if n_columns < 32768 else (8192, 32)
    meta = {"CENTERED": centered, "BLOCK": block, "EVEN": n_columns % block == 0, "VECTOR": vector, "num_warps": num_warps}
    return (x_stride // vector, y_stride // vector, n_columns // vector), meta


def norm_long(x, weight, bias, y, mean, rstd, eps: float = 1e-5, centered: bool = True) -> None:
    n_rows, n_columns = x.shape
    lengths, meta = norm_long_plan(n_columns, x.stride()[0], y.stride()[0], x.element_size(), centered)
    norm_long_kernel[(n_rows,)](x, weight, bias, y, mean, rstd, *lengths, eps, **meta)
