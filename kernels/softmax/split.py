"""Softmax for few and very long rows: each row is split over many programs, so that no multiprocessor stands idle.

A first launch reduces every part of a row to two numbers, its largest value m_k and s_k = sum exp(x - m_k). A second
launch has a program for every part again. It puts the numbers of its row together,

    m = max_k m_k,    s = sum_k s_k exp(m_k - m),

and writes its part of the result. Programs never wait for each other: the second launch begins when the first is done.
For n elements of e bytes: ne read from memory, up to ne read again, ne written, and eight bytes a part on the way.
"""

import torch

# --8<-- [start:imports]
import triton
import triton.language as tl

# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def softmax_parts_kernel(
    x_ptr, peak_ptr, x_row_stride, n_columns, n_parts, BLOCK: tl.constexpr
):
    # This program reduces one part of a row, BLOCK neighboring elements.
    program = tl.program_id(0).to(tl.int64)
    row = program // n_parts
    columns = program % n_parts * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    x_ptrs = x_ptr + row * x_row_stride + columns  # [BLOCK]
    x = tl.load(
        x_ptrs, mask=columns < n_columns, other=-float("inf"), eviction_policy="evict_last"
    ).to(tl.float32)
    peak = tl.max(x, axis=0)
    # A part that is nothing but -inf must not make NaN of it: others of its row may hold more.
    shift = tl.where(peak == -float("inf"), 0.0, peak)
    tl.store(peak_ptr + program, peak)
    tl.store(peak_ptr + tl.num_programs(0) + program, tl.sum(tl.exp(x - shift), axis=0))


@triton.jit
def softmax_split_kernel(
    x_ptr, peak_ptr, y_ptr, x_row_stride, y_row_stride, n_columns, n_parts,
    BLOCK: tl.constexpr, PARTS: tl.constexpr,
):
    # This program writes one part of a row, BLOCK neighboring elements.
    program = tl.program_id(0).to(tl.int64)
    row = program // n_parts
    parts = tl.arange(0, PARTS)  # [PARTS]
    peak_ptrs = peak_ptr + row * n_parts + parts  # [PARTS]
    peaks = tl.load(peak_ptrs, mask=parts < n_parts, other=-float("inf"))
    totals = tl.load(peak_ptrs + tl.num_programs(0), mask=parts < n_parts, other=0.0)
    row_peak = tl.max(peaks, axis=0)
    row_total = tl.sum(totals * tl.exp(peaks - row_peak), axis=0)
    columns = program % n_parts * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    x_ptrs = x_ptr + row * x_row_stride + columns  # [BLOCK]
    x = tl.load(
        x_ptrs, mask=mask, other=-float("inf"), eviction_policy="evict_first"
    ).to(tl.float32)
    y = tl.exp(x - row_peak) / row_total
    tl.store(y_ptr + row * y_row_stride + columns, y, mask=mask, eviction_policy="evict_first")
# --8<-- [end:kernel]


@triton.jit
def softmax_parts_backward_kernel(
    y_ptr, dy_ptr, dot_ptr, y_row_stride, dy_row_stride, n_columns, n_parts, BLOCK: tl.constexpr
):
    # This program reduces one part of a row, BLOCK neighboring elements.
    program = tl.program_id(0).to(tl.int64)
    row = program // n_parts
    columns = program % n_parts * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    y_ptrs, dy_ptrs = y_ptr + row * y_row_stride + columns, dy_ptr + row * dy_row_stride + columns  # [BLOCK], [BLOCK]
    y = tl.load(y_ptrs, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
    dy = tl.load(dy_ptrs, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
    tl.store(dot_ptr + program, tl.sum(y * dy, axis=0))


@triton.jit
def softmax_split_backward_kernel(
    y_ptr,
    dy_ptr,
    dot_ptr,
    dx_ptr,
    y_row_stride,
    dy_row_stride,
    dx_row_stride,
    n_columns,
    n_parts,
    BLOCK: tl.constexpr,
    PARTS: tl.constexpr,
):
    # This program writes one part of a row, BLOCK neighboring elements.
    program = tl.program_id(0).to(tl.int64)
    row = program // n_parts
    parts = tl.arange(0, PARTS)  # [PARTS]
    dot = tl.sum(tl.load(dot_ptr + row * n_parts + parts, mask=parts < n_parts, other=0.0), axis=0)
    columns = program % n_parts * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    y_ptrs, dy_ptrs = y_ptr + row * y_row_stride + columns, dy_ptr + row * dy_row_stride + columns  # [BLOCK], [BLOCK]
    y = tl.load(y_ptrs, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    dy = tl.load(dy_ptrs, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    tl.store(dx_ptr + row * dx_row_stride + columns, y * (dy - dot), mask=mask, eviction_policy="evict_first")


def split_block(n_columns: int) -> tuple[int, int]:
    """Elements and warps of a part. Every program reads the numbers of all parts, so they must not become too many."""
    return (2048, 4) if n_columns <= 2**19 else (16384, 16)


# --8<-- [start:launch]
def softmax_split(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = x.shape
    block, num_warps = split_block(n_columns)
    n_parts = (n_columns + block - 1) // block
    grid = (n_rows * n_parts,)
    # Two numbers a part: first all the peaks, then all the totals.
    peaks = torch.empty(2 * grid[0], dtype=torch.float32, device=x.device)
    softmax_parts_kernel[grid](
        x, peaks, x.stride(0), n_columns, n_parts, BLOCK=block, num_warps=num_warps
    )
    meta = {"BLOCK": block, "PARTS": triton.next_power_of_2(n_parts), "num_warps": num_warps}
    softmax_split_kernel[grid](
        x, peaks, y, x.stride(0), y.stride(0), n_columns, n_parts, **meta
    )
    return y
# --8<-- [end:launch]


def softmax_split_backward(y: torch.Tensor, dy: torch.Tensor, dx: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = y.shape
    block, num_warps = split_block(n_columns)
    n_parts = (n_columns + block - 1) // block
    grid = (n_rows * n_parts,)
    dots = torch.empty(grid[0], dtype=torch.float32, device=y.device)
    strides = (y.stride(0), dy.stride(0))
    softmax_parts_backward_kernel[grid](y, dy, dots, *strides, n_columns, n_parts, BLOCK=block, num_warps=num_warps)
    meta = {"BLOCK": block, "PARTS": triton.next_power_of_2(n_parts), "num_warps": num_warps}
    softmax_split_backward_kernel[grid](y, dy, dots, dx, *strides, dx.stride(0), n_columns, n_parts, **meta)
    return dx
