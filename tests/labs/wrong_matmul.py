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


@wrong("tiled_matmul", r"at least 16 terms along K|every dimension|outside|grid|never")
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


@wrong("tiled_matmul", r"a stored by columns(.|\n)*the column stride of `a` is missing")
def column_stride_of_a_forgotten(a, b, out):
    launch(product_kernel, a, b, out, strides=(a.stride(0), 1, *b.stride(), *out.stride()))


@wrong("tiled_matmul", r"the row stride of `a` is missing(.|\n)*i \* a\.stride\(0\)")
def row_stride_of_a_forgotten(a, b, out):
    launch(product_kernel, a, b, out, strides=(1, a.stride(1), *b.stride(), *out.stride()))


@wrong("tiled_matmul", r"the stride of `a` is used for `b`")
def strides_of_a_for_b(a, b, out):
    launch(product_kernel, a, b, out, strides=(*a.stride(), *a.stride(), *out.stride()))


@wrong("tiled_matmul", r"`a` is read with the strides of `b`")
def strides_of_b_for_a(a, b, out):
    launch(product_kernel, a, b, out, strides=(*b.stride(), *b.stride(), *out.stride()))


@triton.jit
def grouped_kernel(a_ptr, b_ptr, out_ptr, m, n, k, am, ak, bk, bn, om, on, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    across = tl.cdiv(n, N)
    rows = tl.program_id(0) // across * M + tl.arange(0, M)
    columns = tl.program_id(0) % across * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    # Wrapped around: surplus lanes compute what nobody stores.
    a_ptrs = a_ptr + (rows % m)[:, None] * am + inner[None, :] * ak
    b_ptrs = b_ptr + inner[:, None] * bk + (columns % n)[None, :] * bn
    total = tl.zeros((M, N), dtype=tl.float32)
    for i in range(tl.cdiv(k, K)):
        a = tl.load(a_ptrs, mask=inner[None, :] < k - i * K, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < k - i * K, other=0.0)
        total += tl.dot(a, b)
        a_ptrs += K * ak
        b_ptrs += K * bk
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(out_ptr + rows[:, None] * om + columns[None, :] * on, total, mask=inside)


tuned_kernel = triton.autotune([triton.Config({"M": 32, "N": 16, "K": 32})], key=["m", "n", "k"])(grouped_kernel)


@wrong("tiled_matmul", r"never written(.|\n)*grid is too short")
def fixed_grid_of_a_tuned_kernel(a, b, out):
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, 64) * triton.cdiv(n, 64),)
    tuned_kernel[grid](a, b, out, m, n, k, *a.stride(), *b.stride(), *out.stride())


@triton.jit
def early_relu_kernel(a_ptr, b_ptr, out_ptr, m, n, k, am, ak, bk, bn, om, on, TILE: tl.constexpr, PARTS: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, k, TILE):
        at = start + tl.arange(0, TILE)
        a = tl.load(a_ptr + rows * am + at[None, :] * ak, mask=(rows < m) & (at[None, :] < k), other=0.0)
        b = tl.load(b_ptr + at[:, None] * bk + columns * bn, mask=(at[:, None] < k) & (columns < n), other=0.0)
        if PARTS:
            total += tl.maximum(tl.dot(a, b), 0.0)
        else:
            total = tl.maximum(tl.dot(a, b, total), 0.0)
    tl.store(out_ptr + rows * om + columns * on, total, mask=(rows < m) & (columns < n))


def launch_relu(a, b, out, parts):
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    early_relu_kernel[grid](a, b, out, m, n, k, *a.stride(), *b.stride(), *out.stride(), TILE=32, PARTS=parts)


@wrong("matmul_relu", r"the ReLU is within the loop(.|\n)*32 long")
def relu_of_the_running_total(a, b, out):
    launch_relu(a, b, out, parts=False)


@wrong("matmul_relu", r"the ReLU is within the loop(.|\n)*to the whole sum(.|\n)*32 long")
def relu_of_each_part(a, b, out):
    launch_relu(a, b, out, parts=True)


@wrong("matmul_relu", r"the ReLU is missing")
def relu_forgotten(a, b, out):
    launch(product_kernel, a, b, out)
