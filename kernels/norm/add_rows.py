"""The kernels of `kernels.add_rms_norm`: a residual is added on the way into RMS norm, and its gradient on the way back.

    h[i] = x[i] + residual[i],    y[i] = h[i] * rstd * weight[i]
    g = dy * weight,    n = h * rstd,    dh = (g - n * mean(g * n)) * rstd + dsum,    dweight = sum of dy * n over the rows

A tile of whole rows stays on chip, laid out as in `kernels.norm.forward` and `kernels.norm.backward`. The sum is rounded to its
dtype before it is normalized, so that the result is that of the two operations one after the other.
"""

import torch
import triton
import triton.language as tl

from kernels.norm.backward import norm_backward_plan
from kernels.norm.forward import norm_block
from kernels.norm.partials import norm_add_partials, norm_device, norm_partials


@triton.jit
def add_rms_norm_kernel(
    x_ptr,
    residual_ptr,
    weight_ptr,
    y_ptr,
    sum_ptr,
    rstd_ptr,
    x_row_stride,
    residual_row_stride,
    n_rows,
    n_columns,
    eps,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
    VECTOR: tl.constexpr,
):
    # This program owns ROWS neighboring rows; lengths and strides come in vectors of VECTOR elements.
    n_columns *= VECTOR
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    row_mask = (rows < n_rows) | EVEN  # [ROWS, 1]
    column_mask = (columns < n_columns) | EVEN  # [1, BLOCK]
    mask = row_mask & column_mask  # [ROWS, BLOCK]
    x = tl.load(x_ptr + rows * x_row_stride * VECTOR + columns, mask=mask, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + rows * residual_row_stride * VECTOR + columns, mask=mask, other=0.0)
    total = (x + residual.to(tl.float32)).to(residual.dtype)  # [ROWS, BLOCK]
    tl.store(sum_ptr + rows * n_columns + columns, total, mask=mask)
    h = total.to(tl.float32)  # [ROWS, BLOCK]
    squares = tl.fma(h, h, tl.zeros_like(h))  # as in norm_kernel: a product that no addition is fused with
    rstd = tl.rsqrt(tl.sum(squares, axis=1, keep_dims=True) / n_columns + eps)  # [ROWS, 1]
    y = h * rstd  # [ROWS, BLOCK]
    if weight_ptr is not None:
        y *= tl.load(weight_ptr + columns, mask=column_mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
    tl.store(y_ptr + rows * n_columns + columns, y, mask=mask)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + rows, rstd, mask=row_mask)


@triton.jit
def add_rms_norm_backward_kernel(
    sum_ptr,
    weight_ptr,
    dy_ptr,
    dsum_ptr,
    rstd_ptr,
    dx_ptr,
    dweight_ptr,
    dy_row_stride,
    dsum_row_stride,
    n_rows,
    n_columns,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
    VECTOR: tl.constexpr,
    STAGES: tl.constexpr,
):
    # This program owns ROWS rows of every ROWS * num_programs, and one row of the partial sums of dweight.
    n_columns *= VECTOR
    columns = tl.arange(0, BLOCK)[None, :]  # [1, BLOCK]
    column_mask = (columns < n_columns) | EVEN  # [1, BLOCK]
    if weight_ptr is not None:
        weight = tl.load(weight_ptr + columns, mask=column_mask, other=0.0).to(tl.float32)
    dweight = tl.zeros([ROWS, BLOCK], tl.float32)
    first_row = tl.program_id(0).to(tl.int64) * ROWS
    for start in tl.range(first_row, n_rows, tl.num_programs(0) * ROWS, num_stages=STAGES):
        rows = start + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
        row_mask = (rows < n_rows) | EVEN  # [ROWS, 1]
        mask = row_mask & column_mask  # [ROWS, BLOCK]
        h = tl.load(sum_ptr + rows * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + rows * dy_row_stride * VECTOR + columns, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + rows, mask=row_mask, other=0.0)  # [ROWS, 1]
        normal = h * rstd  # [ROWS, BLOCK]
        g = dy if weight_ptr is None else dy * weight  # [ROWS, BLOCK]
        dot = tl.sum(g * normal, axis=1, keep_dims=True) / n_columns  # [ROWS, 1]
        dx = (g - normal * dot) * rstd  # [ROWS, BLOCK]
        if dsum_ptr is not None:
            dx += tl.load(dsum_ptr + rows * dsum_row_stride * VECTOR + columns, mask=mask, other=0.0).to(tl.float32)
        if dweight_ptr is not None:
            dweight += dy * normal
        tl.store(dx_ptr + rows * n_columns + columns, dx, mask=mask)
    if dweight_ptr is not None:
        partials = tl.program_id(0).to(tl.int64) * n_columns + tl.arange(0, BLOCK)  # [BLOCK]
        tl.store(dweight_ptr + partials, tl.sum(dweight, axis=0), mask=(tl.arange(0, BLOCK) < n_columns) | EVEN)


def add_rms_norm_tile(x, residual, weight, y, total, rstd, eps: float = 1e-5) -> None:
    """Launch for matrices whose rows lie together; `y` and `total` are contiguous."""
    n_rows, n_columns = x.shape
    x_stride, residual_stride = x.stride(0), residual.stride(0)
    rows, block, vector, num_warps = norm_block(n_columns, x_stride, residual_stride, x.element_size(), False)
    add_rms_norm_kernel[((n_rows + rows - 1) // rows,)](
        *(x, residual, weight, y, total, rstd),
        *(x_stride // vector, residual_stride // vector, n_rows, n_columns // vector, eps),
        ROWS=rows,
        BLOCK=block,
        EVEN=n_columns == block and n_rows % rows == 0,
        VECTOR=vector,
        num_warps=num_warps,
    )


def add_rms_norm_tile_backward(total, weight, dy, dsum, rstd, dx, dtype: torch.dtype | None = torch.float32):
    """Launch the way back; returns dweight, or None without a dtype. `dsum` may be None, `total` and `dx` are contiguous."""
    n_rows, n_columns = total.shape
    dy_stride, dsum_stride = dy.stride(0), 0 if dsum is None else dsum.stride(0)
    strides = (dy_stride, dsum_stride, n_columns)
    plan = norm_backward_plan(n_columns, strides, total.element_size(), False, total.device)
    rows, block, vector, num_warps, stages, most = plan
    # Three tiles are on their way at a time where RMS norm has two.
    shared_bytes = norm_device(total.device)[1]
    stages = max(1, min(stages, 1 + (shared_bytes - 2**14) // (3 * rows * block * total.element_size())))
    programs = min((n_rows + rows - 1) // rows, most)
    partials = norm_partials((dtype, None), programs, n_columns, total.device)
    add_rms_norm_backward_kernel[(programs,)](
        *(total, weight, dy, dsum, rstd, dx, partials[0]),
        *(dy_stride // vector, dsum_stride // vector, n_rows, n_columns // vector),
        ROWS=rows,
        BLOCK=block,
        EVEN=n_columns == block and n_rows % rows == 0,
        VECTOR=vector,
        STAGES=stages,
        num_warps=num_warps,
    )
    return norm_add_partials(partials, (dtype, None), programs, n_columns, total.device)[0]
