"""The backward pass of layer norm and RMS norm for rows too long for one program to keep their columns' sums.

Two kernels. In the first, every program takes a row, and finds the two means that its dx is made of. In the second, every
program takes BLOCK columns of many rows, reads them again, writes dx, and keeps the partial sums of dweight and dbias in
float32 registers. For n elements of e bytes that is 4ne read and ne written. The second kernel starts with the rows that
the first read last, which may still lie in the L2 cache.
"""

import torch
import triton
import triton.language as tl

from kernels.norm.partials import norm_add_partials, norm_device, norm_partials


# --8<-- [start:rows]
@triton.jit
def norm_row_means_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr, means_ptr, x_row_stride, dy_row_stride, n_columns,
    CENTERED: tl.constexpr, BLOCK: tl.constexpr, EVEN: tl.constexpr,
):
    # This program owns one row, and holds one BLOCK of it at a time.
    row = tl.program_id(0).to(tl.int64)
    mean, rstd = 0.0, tl.load(rstd_ptr + row)
    if CENTERED:
        mean = tl.load(mean_ptr + row)
    dots = tl.zeros([BLOCK], tl.float32)
    totals = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = (columns < n_columns) | EVEN  # [BLOCK]
        x = tl.load(x_ptr + row * x_row_stride + columns, mask=mask, other=0.0).to(tl.float32)
        g = tl.load(dy_ptr + row * dy_row_stride + columns, mask=mask, other=0.0).to(tl.float32)
        if weight_ptr is not None:
            g *= tl.load(weight_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        dots += g * ((x - mean) * rstd)
        if CENTERED:
            totals += g
    tl.store(means_ptr + 2 * row, tl.sum(dots, axis=0) / n_columns)
    if CENTERED:
        tl.store(means_ptr + 2 * row + 1, tl.sum(totals, axis=0) / n_columns)
# --8<-- [end:rows]


# --8<-- [start:columns]
@triton.jit
def norm_columns_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr, means_ptr, dx_ptr, dweight_ptr, dbias_ptr,
    x_row_stride, dy_row_stride, dx_row_stride, n_rows, n_columns,
    CENTERED: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, EVEN: tl.constexpr, STAGES: tl.constexpr,
):
    # This program owns BLOCK columns of ROWS rows in every ROWS * num_programs(1), counted from the last row.
    columns = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    column_mask = (columns < n_columns) | EVEN  # [1, BLOCK]
    part = tl.program_id(1).to(tl.int64)
    if weight_ptr is not None:
        weight = tl.load(weight_ptr + columns, mask=column_mask, other=0.0).to(tl.float32)
    dweight = tl.zeros([ROWS, BLOCK], tl.float32)
    dbias = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in tl.range(part * ROWS, n_rows, tl.num_programs(1) * ROWS, num_stages=STAGES):
        rows = n_rows - 1 - (start + tl.arange(0, ROWS)[:, None])  # [ROWS, 1]
        row_mask = (rows >= 0) | EVEN  # [ROWS, 1]
        mask = row_mask & column_mask  # [ROWS, BLOCK]
        x = tl.load(x_ptr + rows * x_row_stride + columns, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + rows * dy_row_stride + columns, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + rows, mask=row_mask, other=0.0)  # [ROWS, 1]
        if CENTERED:
            x -= tl.load(mean_ptr + rows, mask=row_mask, other=0.0)
        normal = x * rstd  # [ROWS, BLOCK]
        if dweight_ptr is not None:
            dweight += dy * normal
        if dbias_ptr is not None:
            dbias += dy
        g = dy if weight_ptr is None else dy * weight  # [ROWS, BLOCK]
        g -= normal * tl.load(means_ptr + 2 * rows, mask=row_mask, other=0.0)
        if CENTERED:
            g -= tl.load(means_ptr + 2 * rows + 1, mask=row_mask, other=0.0)
        tl.store(dx_ptr + rows * dx_row_stride + columns, g * rstd, mask=mask)
    partials = part * n_columns + columns  # [1, BLOCK]
    if dweight_ptr is not None:
        tl.store(dweight_ptr + partials, tl.sum(dweight, axis=0, keep_dims=True), mask=column_mask)
    if dbias_ptr is not None:
        tl.store(dbias_ptr + partials, tl.sum(dbias, axis=0, keep_dims=True), mask=column_mask)
# --8<-- [end:columns]


def norm_long_backward(x, weight, dy, mean, rstd, dx, dtypes: tuple = (torch.float32, torch.float32)) -> list:
    n_rows, n_columns = x.shape
    centered = mean is not None
    means = torch.empty((n_rows, 2), dtype=torch.float32, device=x.device)
    strides = (x.stride(0), dy.stride(0))
    block, num_warps = (2048, 8) if n_columns <= 65536 else (8192, 32)
    meta = {"CENTERED": centered, "BLOCK": block, "EVEN": n_columns % block == 0, "num_warps": num_warps}
    norm_row_means_kernel[(n_rows,)](x, weight, dy, mean, rstd, means, *strides, n_columns, **meta)

    rows, block = 2, 1024
    blocks = (n_columns + block - 1) // block
    parts = min((n_rows + rows - 1) // rows, max(1, 4 * norm_device(x.device)[0] // blocks))
    partials = norm_partials(dtypes, parts, n_columns, x.device)
    arguments = (x, weight, dy, mean, rstd, means, dx, *partials, *strides, dx.stride(0), n_rows, n_columns)
    full = n_columns % block == 0 and n_rows % rows == 0
    meta = {"CENTERED": centered, "ROWS": rows, "BLOCK": block, "EVEN": full, "STAGES": 3, "num_warps": 4}
    norm_columns_kernel[(blocks, parts)](*arguments, **meta)
    return norm_add_partials(partials, dtypes, parts, n_columns, x.device)
