"""Matrix products with the mistakes that people make."""

import triton
import triton.language as tl

from tests.labs.submissions import wrong


def launch(kernel, a, b, out, tile=32, strides=None):
    m, k = a.shape
    grid = (triton.cdiv(m, tile), triton.cdiv(b.shape[1], tile))
    strides = strides or (*a.stride(), *b.stride(), *out.stride())
    kernel[grid](a, b, out, m, b.shape[1], k, *strides, TILE=tile)


@triton.jit
def product_kernel(a_ptr, b_ptr, out_ptr, m, n, k, am, ak, bk, bn, om, on, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    inner = tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, k, TILE):
        at = start + inner
        a = tl.load(a_ptr + rows * am + at[None, :] * ak, mask=(rows < m) & (at[None, :] < k), other=0.0)
        b = tl.load(b_ptr + at[:, None] * bk + columns * bn, mask=(at[:, None] < k) & (columns < n), other=0.0)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + rows * om + columns * on, total, mask=(rows < m) & (columns < n))


@wrong("tiled_matmul", r"`b` is read transposed")
def b_transposed(a, b, out):
    launch(product_kernel, a, b, out, strides=(*a.stride(), *reversed(b.stride()), *out.stride()))


@wrong("tiled_matmul", r"`a` is read transposed")
def a_transposed(a, b, out):
    launch(product_kernel, a, b, out, strides=(*reversed(a.stride()), *b.stride(), *out.stride()))


@wrong("tiled_matmul", r"product is transposed")
def output_transposed(a, b, out):
    launch(product_kernel, a, b, out, strides=(*a.stride(), *b.stride(), *reversed(out.stride())))


@wrong("tiled_matmul", r"a whose rows lie apart(.|\n)*between the elements of `a`(.|\n)*wrong stride")
def a_taken_as_contiguous(a, b, out):
    launch(product_kernel, a, b, out, strides=(a.shape[1], 1, *b.stride(), *out.stride()))


@wrong("tiled_matmul", r"never written(.|\n)*grid is too short")
def grid_rounded_down(a, b, out):
    m, k = a.shape
    grid = (m // 32, b.shape[1] // 32)
    product_kernel[grid](a, b, out, m, b.shape[1], k, *a.stride(), *b.stride(), *out.stride(), TILE=32)


@wrong("tiled_matmul", r"never written")
def grid_swapped(a, b, out):
    m, k = a.shape
    grid = (triton.cdiv(b.shape[1], 32), triton.cdiv(m, 32))
    product_kernel[grid](a, b, out, m, b.shape[1], k, *a.stride(), *b.stride(), *out.stride(), TILE=32)


@wrong("tiled_matmul", r"sides of 16 at least|every dimension|outside|grid|never")
def sizes_swapped(a, b, out):
    m, k = a.shape
    grid = (triton.cdiv(m, 32), triton.cdiv(b.shape[1], 32))
    product_kernel[grid](a, b, out, b.shape[1], m, k, *a.stride(), *b.stride(), *out.stride(), TILE=32)


@triton.jit
def ragged_k_kernel(a_ptr, b_ptr, out_ptr, m, n, k, am, ak, bk, bn, om, on, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    inner = tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, k, TILE):
        at = start + inner
        a = tl.load(a_ptr + rows * am + at[None, :] * ak, mask=rows < m, other=0.0)
        b = tl.load(b_ptr + at[:, None] * bk + columns * bn, mask=columns < n, other=0.0)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + rows * om + columns * on, total, mask=(rows < m) & (columns < n))


@wrong("tiled_matmul", r"reads outside of `b`(.|\n)*mask does not cover every dimension(.|\n)*what is left of K")
def tail_of_k_unmasked(a, b, out):
    launch(ragged_k_kernel, a, b, out)


@triton.jit
def half_total_kernel(a_ptr, b_ptr, out_ptr, m, n, k, am, ak, bk, bn, om, on, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), tl.float16)
    for start in range(0, k, TILE):
        at = start + tl.arange(0, TILE)
        a = tl.load(a_ptr + rows * am + at[None, :] * ak, mask=(rows < m) & (at[None, :] < k), other=0.0)
        b = tl.load(b_ptr + at[:, None] * bk + columns * bn, mask=(at[:, None] < k) & (columns < n), other=0.0)
        total += tl.dot(a, b, out_dtype=tl.float16)
    tl.store(out_ptr + rows * om + columns * on, total, mask=(rows < m) & (columns < n))


@wrong("tiled_matmul", r"(precision was lost|float16)(.|\n)*float32")
def accumulator_in_half(a, b, out):
    launch(half_total_kernel, a, b, out)


@triton.jit
def half_accumulator_kernel(a_ptr, b_ptr, out_ptr, m, n, k, am, ak, bk, bn, om, on, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), tl.float16)
    for start in range(0, k, TILE):
        at = start + tl.arange(0, TILE)
        a = tl.load(a_ptr + rows * am + at[None, :] * ak, mask=(rows < m) & (at[None, :] < k), other=0.0)
        b = tl.load(b_ptr + at[:, None] * bk + columns * bn, mask=(at[:, None] < k) & (columns < n), other=0.0)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + rows * om + columns * on, total, mask=(rows < m) & (columns < n))


@wrong("tiled_matmul", r"accumulator|float32")
def accumulator_of_another_dtype(a, b, out):
    launch(half_accumulator_kernel, a, b, out)


@triton.jit
def overwritten_kernel(a_ptr, b_ptr, out_ptr, m, n, k, am, ak, bk, bn, om, on, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, k, TILE):
        at = start + tl.arange(0, TILE)
        a = tl.load(a_ptr + rows * am + at[None, :] * ak, mask=(rows < m) & (at[None, :] < k), other=0.0)
        b = tl.load(b_ptr + at[:, None] * bk + columns * bn, mask=(at[:, None] < k) & (columns < n), other=0.0)
        total = tl.dot(a, b)
    tl.store(out_ptr + rows * om + columns * on, total, mask=(rows < m) & (columns < n))


@wrong("tiled_matmul", r"only the last block of K was kept")
def accumulator_overwritten(a, b, out):
    launch(overwritten_kernel, a, b, out)


@triton.jit
def standing_kernel(a_ptr, b_ptr, out_ptr, m, n, k, am, ak, bk, bn, om, on, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    inner = tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, k, TILE):
        a = tl.load(a_ptr + rows * am + inner[None, :] * ak, mask=(rows < m) & (start + inner[None, :] < k), other=0.0)
        b = tl.load(b_ptr + inner[:, None] * bk + columns * bn, mask=(start + inner[:, None] < k) & (columns < n), other=0.0)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + rows * om + columns * on, total, mask=(rows < m) & (columns < n))


@wrong("tiled_matmul", r"pointers do not move on")
def pointers_stand_still(a, b, out):
    launch(standing_kernel, a, b, out)


@triton.jit
def one_axis_kernel(a_ptr, b_ptr, out_ptr, m, n, k, am, ak, bk, bn, om, on, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(0) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, k, TILE):
        at = start + tl.arange(0, TILE)
        a = tl.load(a_ptr + rows * am + at[None, :] * ak, mask=(rows < m) & (at[None, :] < k), other=0.0)
        b = tl.load(b_ptr + at[:, None] * bk + columns * bn, mask=(at[:, None] < k) & (columns < n), other=0.0)
        total = tl.dot(a, b, total)
    tl.store(out_ptr + rows * om + columns * on, total, mask=(rows < m) & (columns < n))


@wrong("tiled_matmul", r"A race(.|\n)*every axis of the grid have its own `tl\.program_id`")
def one_program_number_for_both_axes(a, b, out):
    launch(one_axis_kernel, a, b, out)
