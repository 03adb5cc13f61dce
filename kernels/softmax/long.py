"""Softmax for rows too long to keep on chip: two walks along the row, the second mostly out of the L2 cache.

Walking the row, each lane keeps the largest value m it has met and the sum s of exp(x - m), and rescales s
whenever m grows:

    m' = max(m, x),    s' = s exp(m - m') + exp(x - m')

A lane takes VECTOR neighboring elements at a time, so that it rescales once for all of them: sixteen bytes, where that divides
the row. The lanes' pairs are combined at the end. Where blocks fill a row, EVEN makes the mask a constant, which the compiler
drops. The second walk may go back from the row's end: it meets first what was read last and is still in the cache. For n
elements of e bytes: ne read from memory, up to ne read again, ne written.

The backward pass of rows of 8192 goes this way too. They would fit on chip, but the registers that keep them are missing
elsewhere, and the caches still hold them when they are read again.

Source: M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867.
"""

import torch
import triton
import triton.language as tl

from kernels.softmax.short import softmax_vectors


# --8<-- [start:kernel]
@triton.jit
def softmax_long_kernel(
    x_ptr, y_ptr, x_row_stride, y_row_stride, n_columns, LANES: tl.constexpr, VECTOR: tl.constexpr, EVEN: tl.constexpr
):
    # This program owns one row, and holds LANES * VECTOR elements of it at a time.
    n_columns *= VECTOR
    row = tl.program_id(0).to(tl.int64)
    x_row_ptr = x_ptr + row * x_row_stride * VECTOR
    vectors = tl.arange(0, LANES)[:, None] * VECTOR + tl.arange(0, VECTOR)[None, :]  # [LANES, VECTOR]
    peak = tl.full([LANES], -float("inf"), tl.float32)
    total = tl.zeros([LANES], tl.float32)
    for start in range(0, n_columns, LANES * VECTOR):
        columns = start + vectors  # [LANES, VECTOR]
        mask = (columns < n_columns) | EVEN  # [LANES, VECTOR]
        x = tl.load(x_row_ptr + columns, mask=mask, other=-float("inf"), eviction_policy="evict_last").to(tl.float32)
        new_peak = tl.maximum(peak, tl.max(x, axis=1))  # [LANES]
        # A lane that has met nothing but -inf must not compute -inf - -inf, which is NaN.
        shift = tl.where(new_peak == -float("inf"), 0.0, new_peak)
        total = total * tl.exp(peak - shift) + tl.sum(tl.exp(x - shift[:, None]), axis=1)
        peak = new_peak
    row_peak = tl.max(peak, axis=0)
    shift = tl.where(row_peak == -float("inf"), 0.0, row_peak)
    row_total = tl.sum(total * tl.exp(peak - shift), axis=0)
    for start in range(0, n_columns, LANES * VECTOR):
        columns = (n_columns - LANES * VECTOR - start if EVEN else start) + vectors  # [LANES, VECTOR]
        mask = (columns < n_columns) | EVEN  # [LANES, VECTOR]
        x = tl.load(x_row_ptr + columns, mask=mask, other=-float("inf"), eviction_policy="evict_first")
        y = tl.exp(x.to(tl.float32) - row_peak) / row_total
        tl.store(y_ptr + row * y_row_stride * VECTOR + columns, y, mask=mask, eviction_policy="evict_first")
# --8<-- [end:kernel]


@triton.jit
def softmax_long_backward_kernel(
    y_ptr,
    dy_ptr,
    dx_ptr,
    y_row_stride,
    dy_row_stride,
    dx_row_stride,
    n_columns,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
    REVERSE: tl.constexpr,
    VECTOR: tl.constexpr,
):
    # This program owns one row, and holds one BLOCK of it at a time.
    n_columns *= VECTOR
    row = tl.program_id(0).to(tl.int64)
    y_row_ptr = y_ptr + row * y_row_stride * VECTOR
    dy_row_ptr = dy_ptr + row * dy_row_stride * VECTOR
    products = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = (columns < n_columns) | EVEN  # [BLOCK]
        y = tl.load(y_row_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        dy = tl.load(dy_row_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        products += y * dy
    dot = tl.sum(products, axis=0)
    for start in range(0, n_columns, BLOCK):
        columns = (n_columns - BLOCK - start if REVERSE else start) + tl.arange(0, BLOCK)  # [BLOCK]
        mask = (columns < n_columns) | EVEN  # [BLOCK]
        y = tl.load(y_row_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        dy = tl.load(dy_row_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        tl.store(dx_ptr + row * dx_row_stride * VECTOR + columns, y * (dy - dot), mask=mask, eviction_policy="evict_first")


def softmax_long(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = x.shape
    vector, x_stride, y_stride, length = softmax_vectors(x, y)
    # Wide programs, so that few rows are in flight and each still lies in the L2 cache at its second reading.
    wide = 65536 // x.element_size()
    if vector * x.element_size() < 16:
        block, num_warps = 2048, 8  # narrower loads, whose addresses take more registers
    elif n_columns <= 32768:
        block, num_warps = (8192 if n_columns % 8192 == 0 else 4096), 16
    elif n_columns > 2 * wide and n_columns % wide == 0:
        block, num_warps = wide, 32
    else:
        block, num_warps = 8192 if n_columns <= 65536 else 16384, 32
    full = n_columns % block == 0
    meta = {"LANES": block // vector, "VECTOR": vector, "EVEN": full, "num_warps": num_warps}
    softmax_long_kernel[(n_rows,)](x, y, x_stride, y_stride, length, **meta)
    return y


def softmax_long_backward(y: torch.Tensor, dy: torch.Tensor, dx: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = y.shape
    vector, *strides, length = softmax_vectors(y, dy, dx)
    size = y.element_size()
    if vector * size < 16:
        # Narrower loads, whose addresses take more registers.
        block, num_warps = (2048, 8) if n_columns <= 16384 else (8192, 32)
    elif n_columns == 8192:
        # A second load, from a cache, costs less than the registers to keep y and dy.
        block, num_warps = 4096, 32 if size == 4 else 16
    else:
        block, num_warps = 16384, 32
    full = n_columns % block == 0
    meta = {"BLOCK": block, "EVEN": full, "REVERSE": full and n_columns * size > 131072, "VECTOR": vector, "num_warps": num_warps}
    softmax_long_backward_kernel[(n_rows,)](y, dy, dx, *strides, length, **meta)
    return dx
