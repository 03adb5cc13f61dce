"""The forward pass of layer norm and RMS norm for few and very long rows: each row is split over many programs.

A first launch reduces every part of a row to two numbers: the mean m_k of its n_k elements, and the sum s_k of their
squared distances from m_k. (RMS norm has no mean; there s_k is the sum of the squares.) A second launch has a program for
every part again. It puts the numbers of its row together (Chan),

    mean = sum_k n_k m_k / n,    variance = sum_k (s_k + n_k (m_k - mean)^2) / n,

and writes its part of the result. So a large mean costs no digits here either. Programs never wait for each other: the second
launch begins when the first is done. For n elements of e bytes: ne read from memory, up to ne read again, ne written, and
eight bytes a part on the way, four for RMS norm.

Source: T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
variances", 1979.
"""

import functools

import torch
import triton
import triton.language as tl

from kernels.norm.forward import norm_vector


@triton.jit
def norm_parts_kernel(
    x_ptr, numbers_ptr, x_row_stride, n_columns, n_parts,
    CENTERED: tl.constexpr, BLOCK: tl.constexpr, VECTOR: tl.constexpr,
):
    # This program reduces one part of a row, BLOCK neighboring elements.
    n_columns *= VECTOR
    program = tl.program_id(0).to(tl.int64)
    row, part = program // n_parts, program % n_parts
    columns = part * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    x_ptrs = x_ptr + row * x_row_stride * VECTOR + columns  # [BLOCK]
    x = tl.load(x_ptrs, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
    if CENTERED:
        count = tl.minimum(n_columns - part * BLOCK, BLOCK).to(tl.float32)
        mean = tl.div_rn(tl.sum(x, axis=0), count)
        tl.store(numbers_ptr + tl.num_programs(0) + program, mean)
        x = tl.where(mask, x - mean, 0.0)
    # No x * x, which would be fused with an addition, a different one in every lane: see norm_kernel.
    squares = tl.fma(x, x, tl.zeros_like(x))  # [BLOCK]
    tl.store(numbers_ptr + program, tl.sum(squares, axis=0))


@triton.jit
def norm_split_kernel(
    x_ptr, weight_ptr, bias_ptr, numbers_ptr, y_ptr, mean_ptr, rstd_ptr, x_row_stride, y_row_stride, n_columns, n_parts, eps,
    CENTERED: tl.constexpr, BLOCK: tl.constexpr, VECTOR: tl.constexpr, PARTS: tl.constexpr,
):
    # This program writes one part of a row. The first programs take the parts read last, which may still lie in the L2 cache.
    n_columns *= VECTOR
    program = tl.num_programs(0) - 1 - tl.program_id(0).to(tl.int64)
    row, part = program // n_parts, program % n_parts
    columns = part * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    x_ptrs = x_ptr + row * x_row_stride * VECTOR + columns  # [BLOCK]
    x = tl.load(x_ptrs, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    parts = tl.arange(0, PARTS).to(tl.int64)  # [PARTS]
    there = parts < n_parts  # [PARTS]
    numbers_ptrs = numbers_ptr + row * n_parts + parts  # [PARTS]
    squares = tl.load(numbers_ptrs, mask=there, other=0.0)  # [PARTS]
    if CENTERED:
        means = tl.load(numbers_ptrs + tl.num_programs(0), mask=there, other=0.0)  # [PARTS]
        counts = tl.where(there, tl.minimum(n_columns - parts * BLOCK, BLOCK), 0).to(tl.float32)  # [PARTS]
        mean = tl.div_rn(tl.sum(tl.fma(counts, means, tl.zeros_like(means)), axis=0), n_columns * 1.0)
        squares += counts * (means - mean) * (means - mean)
        x -= mean
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / n_columns + eps)
    y = x * rstd  # [BLOCK]
    if weight_ptr is not None:
        y *= tl.load(weight_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
    if bias_ptr is not None:
        y += tl.load(bias_ptr + columns, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
    tl.store(y_ptr + row * y_row_stride * VECTOR + columns, y, mask=mask, eviction_policy="evict_first")
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd, mask=part == 0)
    if CENTERED and mean_ptr is not None:
        tl.store(mean_ptr + row, mean, mask=part == 0)


@functools.cache
def norm_split_block(n_columns: int) -> tuple[int, int]:
    """Elements and warps of a part. Every program reads the numbers of all parts, so they must not become too many."""
    return (2048, 4) if n_columns <= 2**19 else (16384, 16)


def norm_split(x, weight, bias, y, mean, rstd, eps: float = 1e-5, centered: bool = True) -> None:
    n_rows, n_columns = x.shape
    block, num_warps = norm_split_block(n_columns)
    n_parts = (n_columns + block - 1) // block
    grid = (n_rows * n_parts,)
    vector = norm_vector(x.element_size(), n_columns, x.stride(0), y.stride(0))
    x_stride, y_stride, length = x.stride(0) // vector, y.stride(0) // vector, n_columns // vector
    # What every part is reduced to: first all the sums, then all the means.
    numbers = torch.empty(grid[0] * (2 if centered else 1), dtype=torch.float32, device=x.device)
    meta = {"CENTERED": centered, "BLOCK": block, "VECTOR": vector, "num_warps": num_warps}
    norm_parts_kernel[grid](x, numbers, x_stride, length, n_parts, **meta)
    arguments = (x, weight, bias, numbers, y, mean, rstd, x_stride, y_stride, length, n_parts, eps)
    norm_split_kernel[grid](*arguments, PARTS=triton.next_power_of_2(n_parts), **meta)
