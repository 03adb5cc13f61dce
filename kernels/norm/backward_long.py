"""The backward pass of layer norm and RMS norm for rows too long for one program to keep their columns' sums.

Two kernels. The first finds the two means that each row's dx is made of. A program takes a row of many, or a part of one of
few, so that few rows keep every multiprocessor busy too; what it writes is its part's share of the means. In the second, every
program takes BLOCK columns of many rows, reads them again, adds up the shares, writes dx, and keeps the sums of dweight and
dbias in float32 registers. Where it takes all rows, its sums are the gradients; else a third launch adds them up. For n elements
of e bytes that is 4ne read and ne written. The second kernel starts with the rows that the first read last, which may still lie
in the L2 cache.
"""

import torch
import triton
import triton.language as tl

from kernels.common.sizes import next_power_of_2
from kernels.norm.forward import norm_vector
from kernels.norm.partials import norm_add_partials, norm_device, norm_partials, norm_sums

MOST_PARTS = 128  # of a row: the second kernel adds up as many numbers for every block of columns
FEW_ROWS = 32  # that one program can walk for its columns without being late


# --8<-- [start:rows]
@triton.jit
def norm_row_means_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr, shares_ptr, x_row_stride, dy_row_stride, n_columns, n_parts, part_columns,
    CENTERED: tl.constexpr, BLOCK: tl.constexpr, EVEN: tl.constexpr, VECTOR: tl.constexpr,
):
    # This program owns one of the parts of a row, and holds one BLOCK of it at a time.
    n_columns *= VECTOR
    program = tl.program_id(0).to(tl.int64)
    row, first = program // n_parts, program % n_parts * part_columns
    mean, rstd = 0.0, tl.load(rstd_ptr + row)
    if CENTERED:
        mean = tl.load(mean_ptr + row)
    dots = tl.zeros([BLOCK], tl.float32)
    totals = tl.zeros([BLOCK], tl.float32)
    for start in range(first, tl.minimum(first + part_columns, n_columns), BLOCK):
        columns = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = (columns < n_columns) | EVEN  # [BLOCK]
        x = tl.load(x_ptr + row * x_row_stride * VECTOR + columns, mask=mask, other=0.0).to(tl.float32)
        g = tl.load(dy_ptr + row * dy_row_stride * VECTOR + columns, mask=mask, other=0.0).to(tl.float32)
        if weight_ptr is not None:
            g *= tl.load(weight_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        dots += g * ((x - mean) * rstd)
        if CENTERED:
            totals += g
    tl.store(shares_ptr + 2 * program, tl.sum(dots, axis=0) / n_columns)
    if CENTERED:
        tl.store(shares_ptr + 2 * program + 1, tl.sum(totals, axis=0) / n_columns)
# --8<-- [end:rows]


# --8<-- [start:columns]
@triton.jit
def norm_columns_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr, shares_ptr, dx_ptr, dweight_ptr, dbias_ptr,
    x_row_stride, dy_row_stride, dx_row_stride, n_rows, n_columns, n_parts,
    CENTERED: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, PARTS: tl.constexpr, EVEN: tl.constexpr,
    STAGES: tl.constexpr, VECTOR: tl.constexpr,
):
    # This program owns BLOCK columns of ROWS rows in every ROWS * num_programs(1), counted from the last row.
    n_columns *= VECTOR
    columns = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    column_mask = (columns < n_columns) | EVEN  # [1, BLOCK]
    parts = tl.arange(0, PARTS)[None, :]  # [1, PARTS]
    part = tl.program_id(1).to(tl.int64)
    if weight_ptr is not None:
        weight = tl.load(weight_ptr + columns, mask=column_mask, other=0.0).to(tl.float32)
    dweight = tl.zeros([ROWS, BLOCK], tl.float32)
    dbias = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in tl.range(part * ROWS, n_rows, tl.num_programs(1) * ROWS, num_stages=STAGES):
        rows = n_rows - 1 - (start + tl.arange(0, ROWS)[:, None])  # [ROWS, 1]
        row_mask = (rows >= 0) | EVEN  # [ROWS, 1]
        mask = row_mask & column_mask  # [ROWS, BLOCK]
        x = tl.load(x_ptr + rows * x_row_stride * VECTOR + columns, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + rows * dy_row_stride * VECTOR + columns, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + rows, mask=row_mask, other=0.0)  # [ROWS, 1]
        if CENTERED:
            x -= tl.load(mean_ptr + rows, mask=row_mask, other=0.0)
        normal = x * rstd  # [ROWS, BLOCK]
        if dweight_ptr is not None:
            dweight += dy * normal
        if dbias_ptr is not None:
            dbias += dy
        g = dy if weight_ptr is None else dy * weight  # [ROWS, BLOCK]
        shares_ptrs = shares_ptr + 2 * (rows * n_parts + parts)  # [ROWS, PARTS]
        there = row_mask & (parts < n_parts)  # [ROWS, PARTS]
        g -= normal * tl.sum(tl.load(shares_ptrs, mask=there, other=0.0), axis=1, keep_dims=True)
        if CENTERED:
            g -= tl.sum(tl.load(shares_ptrs + 1, mask=there, other=0.0), axis=1, keep_dims=True)
        tl.store(dx_ptr + rows * dx_row_stride * VECTOR + columns, g * rstd, mask=mask)
    partials = part * n_columns + columns  # [1, BLOCK]
    if dweight_ptr is not None:
        tl.store(dweight_ptr + partials, tl.sum(dweight, axis=0, keep_dims=True), mask=column_mask)
    if dbias_ptr is not None:
        tl.store(dbias_ptr + partials, tl.sum(dbias, axis=0, keep_dims=True), mask=column_mask)
# --8<-- [end:columns]


def norm_row_parts(n_rows: int, n_columns: int, block: int, multiprocessors: int) -> tuple[int, int]:
    """How many programs share the means of a row, and the columns of each: whole blocks, and all multiprocessors at work."""
    n_blocks = (n_columns + block - 1) // block
    each = max(1, n_blocks * n_rows // (2 * multiprocessors), (n_blocks + MOST_PARTS - 1) // MOST_PARTS)
    if n_rows >= multiprocessors:
        each = n_blocks
    return (n_blocks + each - 1) // each, min(each, n_blocks) * block


def norm_columns_plan(n_rows: int, n_columns: int, multiprocessors: int) -> tuple[int, int, int]:
    """Rows and columns of a tile, and how many programs share the rows of a block of columns."""
    if n_rows <= FEW_ROWS:
        for block in (1024, 512, 256):
            if 4 * n_columns >= 3 * block * multiprocessors:
                return 2048 // block, block, 1
    rows, block = 2, 1024
    n_blocks = (n_columns + block - 1) // block
    return rows, block, min((n_rows + rows - 1) // rows, max(1, 4 * multiprocessors // n_blocks))


def norm_long_backward(x, weight, dy, mean, rstd, dx, dtypes: tuple = (torch.float32, torch.float32)) -> list:
    n_rows, n_columns = x.shape
    centered, multiprocessors = mean is not None, norm_device(x.device)[0]
    strides = (x.stride(0), dy.stride(0), dx.stride(0))
    vector = norm_vector(x.element_size(), n_columns, *strides)
    x_stride, dy_stride, dx_stride, length = (size // vector for size in (*strides, n_columns))
    block, num_warps = (2048, 8) if n_columns <= 65536 or n_rows < multiprocessors else (8192, 32)
    n_parts, part_columns = norm_row_parts(n_rows, n_columns, block, multiprocessors)
    shares = torch.empty(2 * n_rows * n_parts, dtype=torch.float32, device=x.device)
    meta = {"CENTERED": centered, "BLOCK": block, "EVEN": n_columns % block == 0, "VECTOR": vector, "num_warps": num_warps}
    arguments = (x, weight, dy, mean, rstd, shares, x_stride, dy_stride, length, n_parts, part_columns)
    norm_row_means_kernel[(n_rows * n_parts,)](*arguments, **meta)

    rows, block, programs = norm_columns_plan(n_rows, n_columns, multiprocessors)
    alone = programs == 1
    sums = norm_sums(dtypes, n_columns, x.device) if alone else norm_partials(dtypes, programs, n_columns, x.device)
    arguments = (x, weight, dy, mean, rstd, shares, dx, *sums, x_stride, dy_stride, dx_stride, n_rows, length, n_parts)
    full = n_columns % block == 0 and n_rows % rows == 0
    meta = {"CENTERED": centered, "ROWS": rows, "BLOCK": block, "EVEN": full, "STAGES": 3, "VECTOR": vector, "num_warps": 4}
    grid = ((n_columns + block - 1) // block, programs)
    norm_columns_kernel[grid](*arguments, PARTS=next_power_of_2(n_parts), **meta)
    return sums if alone else norm_add_partials(sums, dtypes, programs, n_columns, x.device)
