"""The backward pass of layer norm and RMS norm for rows whose columns' sums just fit into a multiprocessor's registers.

The sums take so many registers that the row itself must not stay in them. A program walks along its row in CHUNKS of
BLOCK columns, twice: first for the two means that dx needs, then, out of a cache, for dx and the sums. While it is
at the second walk of one row, it takes the first of its next row, so that the memory is never idle.
"""

import torch
import triton
import triton.language as tl

from kernels.norm_backward import norm_add_partials, norm_multiprocessors, norm_partials


# --8<-- [start:kernel]
@triton.jit
def norm_backward_wide_kernel(
    x_ptr,
    weight_ptr,
    dy_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    dweight_ptr,
    dbias_ptr,
    x_row_stride,
    dy_row_stride,
    dx_row_stride,
    n_rows,
    n_columns,
    CENTERED: tl.constexpr,
    CHUNKS: tl.constexpr,
    BLOCK: tl.constexpr,
    FULL: tl.constexpr,
):
    # This program owns every num_programs-th row, and one row of the partial sums.
    n_programs = tl.num_programs(0)
    dweight = (tl.zeros([BLOCK], tl.float32),) * CHUNKS
    dbias = (tl.zeros([BLOCK], tl.float32),) * CHUNKS
    mean, rstd, dot, total = 0.0, 0.0, 0.0, 0.0
    first_row = tl.program_id(0).to(tl.int64)
    for row in tl.range(first_row - n_programs, n_rows, n_programs):
        next_row = row + n_programs
        has_row, has_next = row >= 0, next_row < n_rows
        next_rstd = tl.load(rstd_ptr + next_row, mask=has_next, other=0.0)
        next_mean = 0.0
        if CENTERED:
            next_mean = tl.load(mean_ptr + next_row, mask=has_next, other=0.0)
        dots = tl.zeros([BLOCK], tl.float32)
        totals = tl.zeros([BLOCK], tl.float32)
        for chunk in tl.static_range(CHUNKS):
            columns = chunk * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
            mask = (columns < n_columns) | FULL  # [BLOCK]
            next_x = tl.load(x_ptr + next_row * x_row_stride + columns, mask=mask & has_next, other=0.0)
            next_dy = tl.load(dy_ptr + next_row * dy_row_stride + columns, mask=mask & has_next, other=0.0)
            x = tl.load(x_ptr + row * x_row_stride + columns, mask=mask & has_row, other=0.0).to(tl.float32)
            dy = tl.load(dy_ptr + row * dy_row_stride + columns, mask=mask & has_row, other=0.0).to(tl.float32)
            normal = (x - mean) * rstd  # [BLOCK]
            dweight = dweight[:chunk] + (dweight[chunk] + dy * normal,) + dweight[chunk + 1 :]
            if dbias_ptr is not None:
                dbias = dbias[:chunk] + (dbias[chunk] + dy,) + dbias[chunk + 1 :]
            g = next_dy.to(tl.float32)
            if weight_ptr is not None:
                weight = tl.load(weight_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
                g *= weight
                dy *= weight
            dx = (dy - total - normal * dot) * rstd  # [BLOCK]
            tl.store(dx_ptr + row * dx_row_stride + columns, dx, mask=mask & has_row)
            dots += g * ((next_x.to(tl.float32) - next_mean) * next_rstd)
            if CENTERED:
                totals += g
        mean, rstd, dot = next_mean, next_rstd, tl.sum(dots, axis=0) / n_columns
        if CENTERED:
            total = tl.sum(totals, axis=0) / n_columns
    for chunk in tl.static_range(CHUNKS):
        columns = chunk * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
        mask = (columns < n_columns) | FULL  # [BLOCK]
        if dweight_ptr is not None:
            tl.store(dweight_ptr + first_row * n_columns + columns, dweight[chunk], mask=mask)
        if dbias_ptr is not None:
            tl.store(dbias_ptr + first_row * n_columns + columns, dbias[chunk], mask=mask)
# --8<-- [end:kernel]


def norm_wide_backward(
    x, weight, dy, mean, rstd, dx, dtypes: tuple = (torch.float32, torch.float32)
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    n_rows, n_columns = x.shape
    strides = (x.stride(0), dy.stride(0), dx.stride(0))
    programs = min(n_rows, norm_multiprocessors(x.device))
    partials, dweight, dbias = norm_partials(dtypes, programs, n_columns, x.device)
    block, chunks = 4096, (n_columns + 4095) // 4096
    meta = {"CENTERED": mean is not None, "CHUNKS": chunks, "BLOCK": block, "FULL": n_columns % block == 0, "num_warps": 16}
    arguments = (x, weight, dy, mean, rstd, dx, dweight, dbias, *strides, n_rows, n_columns)
    norm_backward_wide_kernel[(programs,)](*arguments, **meta)
    return norm_add_partials(partials, dtypes)
