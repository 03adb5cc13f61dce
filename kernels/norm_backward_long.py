"""The backward pass of layer norm and RMS norm for rows too long for one program to keep their columns' sums.

The rows are worked on in bands. Of each band, some programs take a part of a row each, and add up what the two means need
that its dx is made of. Later programs take BLOCK columns of the band each: they read them again, out of the L2 cache
while the band still lies there, write dx, and add up dweight and dbias in float32 registers, one partial sum a band.

A program draws its task from a counter. Whatever a task waits for was drawn before it, by a program that runs
already and waits for nothing. So the wait ends, in whatever order programs start.
"""

import torch
import triton
import triton.language as tl

from kernels.norm_backward import norm_add_partials, norm_partials


# --8<-- [start:row]
@triton.jit
def norm_row_sums(
    x_ptr, weight_ptr, dy_ptr, mean, rstd, sums_ptr, start, stop, CENTERED: tl.constexpr, BLOCK: tl.constexpr, FULL: tl.constexpr
):
    dots = tl.zeros([BLOCK], tl.float32)
    totals = tl.zeros([BLOCK], tl.float32)
    for first in range(start, stop, BLOCK):
        columns = first + tl.arange(0, BLOCK)  # [BLOCK]
        mask = (columns < stop) | FULL  # [BLOCK]
        x = tl.load(x_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        dy = tl.load(dy_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        if weight_ptr is not None:
            dy *= tl.load(weight_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        dots += dy * ((x - mean) * rstd)
        if CENTERED:
            totals += dy
    tl.store(sums_ptr, tl.sum(dots, axis=0))
    if CENTERED:
        tl.store(sums_ptr + 1, tl.sum(totals, axis=0))
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
    sums_ptr,
    counters_ptr,
    x_row_stride,
    dy_row_stride,
    dx_row_stride,
    n_rows,
    n_columns,
    n_band,
    n_ahead,
    n_parts,
    CENTERED: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    PART: tl.constexpr,
    PARTS: tl.constexpr,
    FULL: tl.constexpr,
):
    # This program owns a part of a row of a band, or BLOCK columns of the band that came n_ahead bands before.
    n_row_tasks = n_band * n_parts
    n_tasks = n_row_tasks + (n_columns + BLOCK - 1) // BLOCK
    ticket = tl.atomic_add(counters_ptr, 1)
    task, band = ticket % n_tasks, ticket // n_tasks
    if task < n_row_tasks:
        row = band.to(tl.int64) * n_band + task // n_parts
        if row < n_rows:
            part = task % n_parts
            mean, rstd = 0.0, tl.load(rstd_ptr + row)
            if CENTERED:
                mean = tl.load(mean_ptr + row)
            start, stop = part * PART, tl.minimum(part * PART + PART, n_columns)
            x_row_ptr, dy_row_ptr = x_ptr + row * x_row_stride, dy_ptr + row * dy_row_stride
            sums_row_ptr = sums_ptr + (row * n_parts + part) * 2
            norm_row_sums(
                x_row_ptr, weight_ptr, dy_row_ptr, mean, rstd, sums_row_ptr, start, stop, CENTERED, ROWS * BLOCK, FULL
            )
            tl.debug_barrier()
            tl.atomic_add(counters_ptr + 1 + band, 1, sem="release")
    else:
        band -= n_ahead
        first = band.to(tl.int64) * n_band
        if (band >= 0) & (first < n_rows):
            stop = tl.minimum(n_rows, first + n_band)
            while tl.atomic_add(counters_ptr + 1 + band, 0, sem="acquire") < (stop - first) * n_parts:
                pass
            columns = (task - n_row_tasks) * BLOCK + tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
            column_mask = (columns < n_columns) | FULL  # [1, BLOCK]
            if weight_ptr is not None:
                weight = tl.load(weight_ptr + columns, mask=column_mask, other=0.0).to(tl.float32)
            parts = tl.arange(0, PARTS)[None, :]  # [1, PARTS]
            dweight = tl.zeros([ROWS, BLOCK], tl.float32)
            dbias = tl.zeros([ROWS, BLOCK], tl.float32)
            for start in range(first, stop, ROWS):
                rows = start + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
                row_mask = rows < stop  # [ROWS, 1]
                mask = row_mask & column_mask  # [ROWS, BLOCK]
                x = tl.load(x_ptr + rows * x_row_stride + columns, mask=mask, other=0.0, eviction_policy="evict_first")
                dy = tl.load(dy_ptr + rows * dy_row_stride + columns, mask=mask, other=0.0, eviction_policy="evict_first")
                x, dy = x.to(tl.float32), dy.to(tl.float32)
                rstd = tl.load(rstd_ptr + rows, mask=row_mask, other=0.0)  # [ROWS, 1]
                sums_ptrs = sums_ptr + (rows * n_parts + parts) * 2  # [ROWS, PARTS]
                sums_mask = row_mask & (parts < n_parts)  # [ROWS, PARTS]
                dot = tl.sum(tl.load(sums_ptrs, mask=sums_mask, other=0.0), axis=1, keep_dims=True) / n_columns
                if CENTERED:
                    x -= tl.load(mean_ptr + rows, mask=row_mask, other=0.0)
                normal = x * rstd  # [ROWS, BLOCK]
                if dweight_ptr is not None:
                    dweight += dy * normal
                if dbias_ptr is not None:
                    dbias += dy
                if weight_ptr is not None:
                    dy *= weight
                dx = dy - normal * dot  # [ROWS, BLOCK]
                if CENTERED:
                    dx -= tl.sum(tl.load(sums_ptrs + 1, mask=sums_mask, other=0.0), axis=1, keep_dims=True) / n_columns
                tl.store(dx_ptr + rows * dx_row_stride + columns, dx * rstd, mask=mask, eviction_policy="evict_first")
            partials = band.to(tl.int64) * n_columns + columns  # [1, BLOCK]
            if dweight_ptr is not None:
                tl.store(dweight_ptr + partials, tl.sum(dweight, axis=0, keep_dims=True), mask=column_mask)
            if dbias_ptr is not None:
                tl.store(dbias_ptr + partials, tl.sum(dbias, axis=0, keep_dims=True), mask=column_mask)
# --8<-- [end:kernel]


def norm_long_backward(
    x, weight, dy, mean, rstd, dx, dtypes: tuple = (torch.float32, torch.float32)
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    n_rows, n_columns = x.shape
    strides = (x.stride(0), dy.stride(0), dx.stride(0))
    n_band, n_ahead, rows, block, part = 32, 4, 4, 512, 16384
    bands, n_parts = (n_rows + n_band - 1) // n_band, (n_columns + part - 1) // part
    partials, dweight, dbias = norm_partials(dtypes, bands, n_columns, x.device)
    sums = torch.empty((n_rows, n_parts, 2), dtype=torch.float32, device=x.device)
    # One counter for the tasks, and one a band for its finished parts of rows; the last bands ahead have no rows.
    counters = torch.zeros(1 + bands + n_ahead, dtype=torch.int32, device=x.device)
    grid = ((bands + n_ahead) * (n_band * n_parts + (n_columns + block - 1) // block),)
    full = n_columns % (rows * block) == 0
    meta = {"CENTERED": mean is not None, "ROWS": rows, "BLOCK": block, "PART": part, "FULL": full, "num_warps": 8}
    arguments = (x, weight, dy, mean, rstd, dx, dweight, dbias, sums, counters)
    sizes = (*strides, n_rows, n_columns, n_band, n_ahead, n_parts)
    norm_backward_long_kernel[grid](*arguments, *sizes, **meta, PARTS=triton.next_power_of_2(n_parts))
    return norm_add_partials(partials, dtypes)
