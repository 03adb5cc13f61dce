"""The backward pass of layer norm and RMS norm for rows too long for one program to keep their columns' sums.

The rows are worked on in bands that fit into the L2 cache. Of each band, programs first take a row each and find the two
means that its dx needs. Later programs take BLOCK columns of the band each: they read them again out of the cache,
write dx, and add up dweight and dbias in float32 registers, one partial sum a band.

A program draws its task from a counter. Whatever a task waits for was drawn before it, by a program that runs
already and waits for nothing. So the wait ends in whatever order programs start.
"""

import torch
import triton
import triton.language as tl

from kernels.norm_backward import norm_add_partials, norm_partials


# --8<-- [start:row]
@triton.jit
def norm_row_means(
    x_ptr, weight_ptr, dy_ptr, mean, rstd, means_ptr, n_columns, CENTERED: tl.constexpr, BLOCK: tl.constexpr, FULL: tl.constexpr
):
    dots = tl.zeros([BLOCK], tl.float32)
    totals = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = (columns < n_columns) | FULL  # [BLOCK]
        x = tl.load(x_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        dy = tl.load(dy_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        if weight_ptr is not None:
            dy *= tl.load(weight_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        dots += dy * ((x - mean) * rstd)
        if CENTERED:
            totals += dy
    tl.store(means_ptr, tl.sum(dots, axis=0) / n_columns)
    if CENTERED:
        tl.store(means_ptr + 1, tl.sum(totals, axis=0) / n_columns)
# --8<-- [end:row]


# --8<-- [start:kernel]
@triton.jit
def norm_backward_long_kernel(
    x_ptr,
    weight_ptr,
    dy_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    dweight_ptr,
    dbias_ptr,
    means_ptr,
    counters_ptr,
    x_row_stride,
    dy_row_stride,
    dx_row_stride,
    n_rows,
    n_columns,
    n_band,
    n_ahead,
    CENTERED: tl.constexpr,
    BLOCK: tl.constexpr,
    FULL: tl.constexpr,
    STAGES: tl.constexpr,
):
    # This program owns one row of a band, or BLOCK columns of the band that came n_ahead bands before.
    n_tasks = n_band + (n_columns + BLOCK - 1) // BLOCK
    ticket = tl.atomic_add(counters_ptr, 1)
    task = ticket % n_tasks
    band = ticket // n_tasks
    if task < n_band:
        row = band.to(tl.int64) * n_band + task
        if row < n_rows:
            rstd = tl.load(rstd_ptr + row)
            mean = 0.0
            if CENTERED:
                mean = tl.load(mean_ptr + row)
            x_row_ptr, dy_row_ptr = x_ptr + row * x_row_stride, dy_ptr + row * dy_row_stride
            norm_row_means(x_row_ptr, weight_ptr, dy_row_ptr, mean, rstd, means_ptr + 2 * row, n_columns, CENTERED, BLOCK, FULL)
            tl.debug_barrier()
            tl.atomic_add(counters_ptr + 1 + band, 1, sem="release")
    else:
        band -= n_ahead
        first = band.to(tl.int64) * n_band
        if (band >= 0) & (first < n_rows):
            n_band_rows = tl.minimum(n_rows - first, n_band).to(tl.int32)
            while tl.atomic_add(counters_ptr + 1 + band, 0, sem="acquire") < n_band_rows:
                pass
            columns = (task - n_band) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
            mask = (columns < n_columns) | FULL  # [BLOCK]
            if weight_ptr is not None:
                weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
            dweight = tl.zeros([BLOCK], tl.float32)
            dbias = tl.zeros([BLOCK], tl.float32)
            for step in tl.range(0, n_band_rows, num_stages=STAGES):
                row = first + step
                x = tl.load(x_ptr + row * x_row_stride + columns, mask=mask, other=0.0, eviction_policy="evict_first")
                dy = tl.load(dy_ptr + row * dy_row_stride + columns, mask=mask, other=0.0, eviction_policy="evict_first")
                x, dy = x.to(tl.float32), dy.to(tl.float32)
                rstd = tl.load(rstd_ptr + row)
                if CENTERED:
                    x -= tl.load(mean_ptr + row)
                normal = x * rstd  # [BLOCK]
                if dweight_ptr is not None:
                    dweight += dy * normal
                if dbias_ptr is not None:
                    dbias += dy
                if weight_ptr is not None:
                    dy *= weight
                dx = dy - normal * tl.load(means_ptr + 2 * row)
                if CENTERED:
                    dx -= tl.load(means_ptr + 2 * row + 1)
                tl.store(dx_ptr + row * dx_row_stride + columns, dx * rstd, mask=mask, eviction_policy="evict_first")
            partials = band.to(tl.int64) * n_columns + columns  # [BLOCK]
            if dweight_ptr is not None:
                tl.store(dweight_ptr + partials, dweight, mask=mask)
            if dbias_ptr is not None:
                tl.store(dbias_ptr + partials, dbias, mask=mask)
# --8<-- [end:kernel]


def norm_bands(shape: tuple[int, int], element_size: int) -> tuple[int, int, int]:
    """The rows of a band, the columns of a block, and how many bands ahead the means are found."""
    n_rows, n_columns = shape
    return 16 if n_columns > 131072 else 32, 2048, 2 if n_columns > 32768 else 4


def norm_long_backward(x, weight, dy, mean, rstd, dx, dtypes, shape, strides) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    n_rows, n_columns = shape
    n_band, block, n_ahead = norm_bands(shape, x.element_size())
    bands = (n_rows + n_band - 1) // n_band
    partials, dweight, dbias = norm_partials(dtypes, bands, n_columns, x.device)
    means = torch.empty((n_rows, 2), dtype=torch.float32, device=x.device)
    # One counter for the tasks, and one a band for its finished rows; the last bands ahead have no rows.
    counters = torch.zeros(1 + bands + n_ahead, dtype=torch.int32, device=x.device)
    grid = ((bands + n_ahead) * (n_band + (n_columns + block - 1) // block),)
    meta = {"CENTERED": mean is not None, "BLOCK": block, "FULL": n_columns % block == 0, "STAGES": 2, "num_warps": 8}
    arguments = (x, weight, dy, mean, rstd, dx, dweight, dbias, means, counters, *strides, n_rows, n_columns, n_band, n_ahead)
    norm_backward_long_kernel[grid](*arguments, **meta)
    return norm_add_partials(partials, dtypes)
