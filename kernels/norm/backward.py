"""The backward pass of layer norm and RMS norm: persistent programs that keep the weights' gradients in registers.

    g = dy * weight,    n = (x - mean) * rstd
    dx = (g - mean(g) - n * mean(g * n)) * rstd,    dweight = sum of dy * n over the rows,    dbias = sum of dy

RMS norm has no mean and no mean(g). Every row adds to every element of dweight and dbias. So a program takes many rows,
adds up in float32 registers what they contribute, and writes one partial sum at the end; `kernels.norm.partials` adds the
programs' partial sums. No lock, no atomic operation, and the same bits in every run.
"""

import functools

import torch
import triton
import triton.language as tl

from kernels.common.sizes import next_power_of_2
from kernels.norm.forward import norm_vector
from kernels.norm.partials import norm_add_partials, norm_device, norm_partials


# --8<-- [start:kernel]
@triton.jit
def norm_backward_kernel(
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
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
    VECTOR: tl.constexpr,
    STAGES: tl.constexpr,
    RELOAD: tl.constexpr,
):
    # This program owns ROWS rows of every ROWS * num_programs, and one row of the partial sums.
    n_columns *= VECTOR
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    column_mask = (columns < n_columns) | EVEN  # [1, BLOCK]
    weight_ptrs = columns if weight_ptr is None else weight_ptr + columns  # [1, BLOCK]
    if weight_ptr is not None and not RELOAD:
        weight = tl.load(weight_ptrs, mask=column_mask, other=0.0).to(tl.float32)
    dweight = tl.zeros([ROWS, BLOCK], tl.float32)
    dbias = tl.zeros([ROWS, BLOCK], tl.float32)
    first_row = tl.program_id(0).to(tl.int64) * ROWS
    for start in tl.range(first_row, n_rows, tl.num_programs(0) * ROWS, num_stages=STAGES):
        rows = start + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
        row_mask = (rows < n_rows) | EVEN  # [ROWS, 1]
        mask = row_mask & column_mask  # [ROWS, BLOCK]
        x_ptrs = x_ptr + rows * x_row_stride * VECTOR + columns  # [ROWS, BLOCK]
        dy_ptrs = dy_ptr + rows * dy_row_stride * VECTOR + columns  # [ROWS, BLOCK]
        x = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptrs, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + rows, mask=row_mask, other=0.0)  # [ROWS, 1]
        mean = 0.0
        if CENTERED:
            mean = tl.load(mean_ptr + rows, mask=row_mask, other=0.0)
        normal = (x - mean) * rstd  # [ROWS, BLOCK]
        if weight_ptr is not None and RELOAD:
            weight = tl.load(weight_ptrs, mask=column_mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        g = dy  # [ROWS, BLOCK]
        if weight_ptr is not None:
            # A row of one number is its own mean: its product is rounded by itself, so that nothing is left of the difference.
            g = tl.fma(dy, weight, 0.0) if BLOCK == 1 else dy * weight
        dot = tl.sum(g * normal, axis=1, keep_dims=True) / n_columns  # [ROWS, 1]
        g_mean = 0.0
        if CENTERED:
            g_mean = tl.sum(g, axis=1, keep_dims=True) / n_columns
        if RELOAD:
            # A second load, from a cache, costs less than the registers to keep the first.
            x = tl.load(x_ptrs, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
            dy = tl.load(dy_ptrs, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
            normal = (x - mean) * rstd
            g = dy
            if weight_ptr is not None:
                g *= tl.load(weight_ptrs, mask=column_mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        if dweight_ptr is not None:
            dweight += dy * normal
        if dbias_ptr is not None:
            dbias += dy
        dx = (g - g_mean - normal * dot) * rstd  # [ROWS, BLOCK]
        tl.store(dx_ptr + rows * dx_row_stride * VECTOR + columns, dx, mask=mask)
    partials = tl.program_id(0).to(tl.int64) * n_columns + tl.arange(0, BLOCK)  # [BLOCK]
    partial_mask = (tl.arange(0, BLOCK) < n_columns) | EVEN  # [BLOCK]
    if dweight_ptr is not None:
        tl.store(dweight_ptr + partials, tl.sum(dweight, axis=0), mask=partial_mask)
    if dbias_ptr is not None:
        tl.store(dbias_ptr + partials, tl.sum(dbias, axis=0), mask=partial_mask)
# --8<-- [end:kernel]


def norm_backward_tile(block: int, centered: bool, vector: int = 8, element_size: int = 2) -> tuple[int, int, int]:
    """Rows of a tile, warps of a program and programs a multiprocessor, for rows that take a block of this length."""
    if vector == 1 and (block == 1024 or block == 4096 and element_size == 2):
        # Numbers are loaded one by one: fewer of them at a time, so that their addresses fit into registers.
        return (1, 4, 2) if block == 4096 else (2, 4, 4) if element_size == 2 else (2, 8, 2)
    if block <= 128:
        return 1024 // block, 1, 8
    if block <= 512:
        return 2048 // block, 2, 4
    if block <= 2048:
        return 4096 // block, 4, 2
    return (1, 8, 2) if block == 4096 else (1, 16, 1) if block == 8192 or centered else (1, 32, 1)


@functools.cache
def norm_backward_plan(n_columns: int, strides: tuple, element_size: int, centered: bool, device: torch.device) -> tuple:
    """Rows and block of a tile, elements of a vector, warps of a program, tiles on their way at a time, and programs at most."""
    vector = norm_vector(element_size, n_columns, *strides)
    block = next_power_of_2(n_columns)
    rows, num_warps, per_multiprocessor = norm_backward_tile(block, centered, vector, element_size)
    multiprocessors, shared_bytes = norm_device(device)
    # As many tiles ahead as pay and as shared memory holds; none where the row is loaded again.
    tile_bytes = 2 * rows * block * element_size
    stages = 1 if block > 8192 else min(4 if block == 8192 else 3, 1 + (shared_bytes - 2**14) // tile_bytes)
    return rows, block, vector, num_warps, stages, per_multiprocessor * multiprocessors


def norm_tile_backward(x, weight, dy, mean, rstd, dx, dtypes: tuple = (torch.float32, torch.float32)) -> list:
    n_rows, n_columns = x.shape
    centered, device = mean is not None, x.device
    strides = x_stride, dy_stride, dx_stride = x.stride()[0], dy.stride()[0], dx.stride()[0]
    rows, block, vector, num_warps, stages, most = norm_backward_plan(n_columns, strides, x.element_size(), centered, device)
    programs = min((n_rows + rows - 1) // rows, most)
    partials = norm_partials(dtypes, programs, n_columns, device)
    lengths = (x_stride // vector, dy_stride // vector, dx_stride // vector, n_rows, n_columns // vector)
    norm_backward_kernel[(programs,)](
        *(x, weight, dy, mean, rstd, dx, *partials, *lengths),
        CENTERED=centered,
        ROWS=rows,
        BLOCK=block,
        EVEN=n_columns == block and n_rows % rows == 0,
        VECTOR=vector,
        STAGES=stages,
        RELOAD=block > 8192,
        num_warps=num_warps,
    )
    return norm_add_partials(partials, dtypes, programs, n_columns, device)
