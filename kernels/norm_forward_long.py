"""The forward pass of layer norm and RMS norm for rows too long to keep on chip: two walks along the row.

Walking the row, each lane adds up the distances from the first element that it met, and their squares:

    d = x - x_first,    s' = s + d,    q' = q + d^2

Of the c elements of a lane, the mean is then x_first + s / c, and the sum of squared distances from it q - s^2 / c. That
difference is at least q / c, so it loses few digits, however far from zero the row lies: c is 64 at most. The lanes
are combined at the end. The second walk reads the row again, mostly out of a cache, and writes the result.
"""

import triton
import triton.language as tl


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
    FULL: tl.constexpr,
):
    # This program owns one row, and holds one BLOCK of it at a time.
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)  # [BLOCK]
    x_row_ptr = x_ptr + row * x_row_stride
    x_first = tl.load(x_row_ptr + lanes, mask=(lanes < n_columns) | FULL, other=0.0).to(tl.float32)
    totals = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_columns, BLOCK):
        mask = (start + lanes < n_columns) | FULL  # [BLOCK]
        x = tl.load(x_row_ptr + start + lanes, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        if CENTERED:
            x = tl.where(mask, x - x_first, 0.0)
            totals += x
        squares += x * x
    mean = 0.0
    if CENTERED:
        counts = tl.maximum((n_columns - lanes + BLOCK - 1) // BLOCK, 1)  # [BLOCK], how many elements a lane has met
        means = totals / counts  # [BLOCK]
        squares -= totals * means
        means += x_first
        counts = tl.where(lanes < n_columns, counts, 0)
        mean = tl.sum(means * counts, axis=0) / n_columns
        squares += counts * (means - mean) * (means - mean)
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / n_columns + eps)
    for start in range(0, n_columns, BLOCK):
        columns = start + lanes  # [BLOCK]
        mask = (columns < n_columns) | FULL  # [BLOCK]
        x = tl.load(x_row_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        y = (x - mean) * rstd
        if weight_ptr is not None:
            y *= tl.load(weight_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        if bias_ptr is not None:
            y += tl.load(bias_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        tl.store(y_ptr + row * y_row_stride + columns, y, mask=mask, eviction_policy="evict_first")
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd)
    if CENTERED and mean_ptr is not None:
        tl.store(mean_ptr + row, mean)
# --8<-- [end:kernel]


def norm_long(x, weight, bias, y, mean, rstd, eps: float = 1e-5, centered: bool = True) -> None:
    n_rows, n_columns = x.shape
    block, num_warps = (4096, 16) if centered and n_columns <= 32768 else (8192, 16 if centered else 32)
    meta = {"CENTERED": centered, "BLOCK": block, "FULL": n_columns % block == 0, "num_warps": num_warps}
    norm_long_kernel[(n_rows,)](x, weight, bias, y, mean, rstd, x.stride(0), y.stride(0), n_columns, eps, **meta)
