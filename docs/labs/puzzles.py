# %% [markdown]
# # A dozen puzzles
#
# Each of these is one idea and a few missing lines, in the form of the labs: fill in, run the cell, run the check. They
# can be solved in any order, and get harder toward the end. Before the first, read
# [Grid math](../course/grid-math.md) and [Masking](../course/masking.md). Puzzles 6, 7, 10 and 12 name a chapter of their own.
#
# Run this cell first. Without a GPU, Triton's interpreter runs the kernels on the CPU.

# %% tags=["setup"]
# [install]
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported

import triton
import triton.language as tl

from kernels.labs import check

device = "cuda" if torch.cuda.is_available() else "cpu"
print(torch.cuda.get_device_name() if device == "cuda" else "No GPU found: Triton's interpreter runs the kernels.")

# %% [markdown]
# ## Puzzle 1: every third element
#
# `x` may be a view such as `y[::3]`: its elements lie `step` apart in memory. Those of `out` lie side by side.

# %% tags=["exercise"]
@triton.jit
def gather_kernel(x_ptr, out_ptr, step, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    # YOUR TURN: load this block's elements of `x`, and set `x`.
    # [solution]
    x = tl.load(x_ptr + offsets * step, mask=mask)
    # [/solution]
    tl.store(out_ptr + offsets, x, mask=mask)


def my_gather(x, out):
    gather_kernel[(triton.cdiv(len(x), 128),)](x, out, x.stride(0), len(x), BLOCK=128)


# %% [markdown] tags=["hint"]
# Element 0 lies at `x_ptr`, element 1 at `x_ptr + step`, element 2 at `x_ptr + 2 * step`. The mask still counts elements.

# %% tags=["check"]
check(my_gather, "gather_stride")

# %% [markdown]
# ## Puzzle 2: backward
#
# `out` is `x` with its last element first.

# %% tags=["exercise"]
@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    # YOUR TURN: set `source`, the index in `x` of the element that belongs at each of `offsets`.
    # [solution]
    source = n - 1 - offsets
    # [/solution]
    tl.store(out_ptr + offsets, tl.load(x_ptr + source, mask=mask), mask=mask)


def my_reverse(x, out):
    reverse_kernel[(triton.cdiv(len(x), 128),)](x, out, len(x), BLOCK=128)


# %% [markdown] tags=["hint"]
# out[0] comes from x[n - 1], and out[n - 1] from x[0]. Where does the lane with offset n point, and is it switched off?

# %% tags=["check"]
check(my_reverse, "reverse")

# %% [markdown]
# ## Puzzle 3: each element and its neighbors
#
# A stencil: `out[i]` is the mean of `x[i - 1]`, `x[i]` and `x[i + 1]`. Beyond both ends stands a 0, which is not in memory.

# %% tags=["exercise"]
@triton.jit
def stencil_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    # YOUR TURN: load the neighbors, and set `before` and `after`.
    # [solution]
    before = tl.load(x_ptr + offsets - 1, mask=(offsets - 1 >= 0) & (offsets - 1 < n), other=0.0)
    after = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    # [/solution]
    tl.store(out_ptr + offsets, (before + here + after) / 3, mask=offsets < n)


def my_stencil(x, out):
    stencil_kernel[(triton.cdiv(len(x), 128),)](x, out, len(x), BLOCK=128)


# %% [markdown] tags=["hint"]
# Each load has a mask of its own, which is true where the index it reads, `offsets - 1` or `offsets + 1`, is one of 0 to
# n - 1. Two conditions are joined by `&`, with parentheses around each. And what must a lane hold that is switched off?

# %% tags=["check"]
check(my_stencil, "stencil")

# %% [markdown]
# ## Puzzle 4: an outer product
#
# Two vectors make a matrix: `out[i, j] = x[i] * y[j]`. One program owns a tile of it.

# %% tags=["exercise"]
@triton.jit
def outer_kernel(x_ptr, y_ptr, out_ptr, out_row, m, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows, mask=rows < m)
    y = tl.load(y_ptr + columns, mask=columns < n)
    # YOUR TURN: set `tile`, BLOCK by BLOCK, to the products.
    # [solution]
    tile = x[:, None] * y[None, :]
    # [/solution]
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(out_ptr + rows[:, None] * out_row + columns[None, :], tile, mask=mask)


def my_outer(x, y, out):
    grid = (triton.cdiv(len(x), 32), triton.cdiv(len(y), 32))
    outer_kernel[grid](x, y, out, out.stride(0), len(x), len(y), BLOCK=32)


# %% [markdown] tags=["hint"]
# `x * y` multiplies lane by lane and stays a vector. `x[:, None]` is a column of BLOCK rows, and `y[None, :]` a row of BLOCK
# columns; together they make every pair.

# %% tags=["check"]
check(my_outer, "outer_product")

# %% [markdown]
# ## Puzzle 5: a tile of a matrix
#
# Two matrices are added, tile by tile. Here the addresses and the mask are yours. Rows need not lie side by side: row `i` of
# `x` begins at `x_ptr + i * x_row`, and the rows of `y` and `out` have steps of their own.

# %% tags=["exercise"]
@triton.jit
def add_tiles_kernel(x_ptr, y_ptr, out_ptr, x_row, y_row, out_row, m, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    # YOUR TURN: set `mask`, BLOCK by BLOCK, true where the tile lies within the m by n matrix; then load `x` and `y`.
    # [solution]
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    x = tl.load(x_ptr + rows[:, None] * x_row + columns[None, :], mask=mask)
    y = tl.load(y_ptr + rows[:, None] * y_row + columns[None, :], mask=mask)
    # [/solution]
    tl.store(out_ptr + rows[:, None] * out_row + columns[None, :], x + y, mask=mask)


def my_add_tiles(x, y, out):
    grid = (triton.cdiv(x.shape[0], 32), triton.cdiv(x.shape[1], 32))
    add_tiles_kernel[grid](x, y, out, x.stride(0), y.stride(0), out.stride(0), *x.shape, BLOCK=32)


# %% [markdown] tags=["hint"]
# The last line shows how a tile of addresses is made. A mask of a tile is made in the same way: a column that compares rows,
# a row that compares columns, and `&` between them.

# %% tags=["check"]
check(my_add_tiles, "add_tiles")

# %% [markdown]
# ## Puzzle 6: rows become columns
#
# `out[j, i] = x[i, j]`. The tile of `x` is loaded; where does it go?

# %% tags=["exercise"]
@triton.jit
def transpose_kernel(x_ptr, out_ptr, x_row, out_row, m, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    x = tl.load(x_ptr + rows[:, None] * x_row + columns[None, :], mask=mask)
    # YOUR TURN: store the tile where it belongs in `out`.
    # [solution]
    tl.store(out_ptr + columns[None, :] * out_row + rows[:, None], x, mask=mask)
    # [/solution]


def my_transpose(x, out):
    grid = (triton.cdiv(x.shape[0], 32), triton.cdiv(x.shape[1], 32))
    transpose_kernel[grid](x, out, x.stride(0), out.stride(0), *x.shape, BLOCK=32)


# %% [markdown] tags=["hint"]
# The lane that holds x[i, j] has row i and column j. out[j, i] lies at `out_ptr + j * out_row + i`. Nothing turns but the
# addresses, and the mask stays as it is. [A transposed tile](../deeper/patterns-transpose.md) says what that costs on a GPU.

# %% tags=["check"]
check(my_transpose, "transpose")

# %% [markdown]
# ## Puzzle 7: the largest of each row, many rows at once
#
# One program owns 16 rows, and each row fits into a block. The tile has a maximum along each of its axes: take the one that
# belongs to the rows. [Along rows and along columns](../deeper/reductions-columns.md) has the background.

# %% tags=["exercise"]
@triton.jit
def row_max_tile_kernel(x_ptr, out_ptr, x_row, m, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, BLOCK)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    # YOUR TURN: load the tile, and set `largest`, a block of ROWS maxima.
    # [solution]
    x = tl.load(x_ptr + rows[:, None] * x_row + columns[None, :], mask=mask, other=-float("inf"))
    largest = tl.max(x, axis=1)
    # [/solution]
    tl.store(out_ptr + rows, largest, mask=rows < m)


def my_row_max_tile(x, out):
    m, n = x.shape
    block = triton.next_power_of_2(n)
    row_max_tile_kernel[(triton.cdiv(m, 16),)](x, out, x.stride(0), m, n, ROWS=16, BLOCK=block)


# %% [markdown] tags=["hint"]
# `axis` names the axis that disappears. Of a tile of ROWS by BLOCK, axis 1 are the columns. The masked lanes of a row take
# part in its maximum: what must they hold?

# %% tags=["check"]
check(my_row_max_tile, "row_max")

# %% [markdown]
# ## Puzzle 8: the sum of each column
#
# Now every program owns some columns, and walks down all rows. A block of sums stays on the chip meanwhile.

# %% tags=["exercise"]
@triton.jit
def column_sum_kernel(x_ptr, out_ptr, x_row, m, n, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < n
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(m):
        # YOUR TURN: load this row's part, and set `x`.
        # [solution]
        x = tl.load(x_ptr + row * x_row + columns, mask=mask, other=0.0)
        # [/solution]
        total += x
    tl.store(out_ptr + columns, total, mask=mask)


def my_column_sum(x, out):
    m, n = x.shape
    column_sum_kernel[(triton.cdiv(n, 64),)](x, out, x.stride(0), m, n, BLOCK=64)


# %% [markdown] tags=["hint"]
# Row `row` begins at `x_ptr + row * x_row`. Neighboring lanes read neighboring columns, which lie side by side in memory.

# %% tags=["check"]
check(my_column_sum, "column_sum")

# %% [markdown]
# ## Puzzle 9: running sums
#
# A scan: `out[i, j]` is the sum of row `i` from its beginning up to `x[i, j]`, itself included. One program owns a row.

# %% tags=["exercise"]
@triton.jit
def running_sum_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_row + columns, mask=mask, other=0.0)
    # YOUR TURN: set `sums`, a block as long as `x`.
    # [solution]
    sums = tl.cumsum(x, axis=0)
    # [/solution]
    tl.store(out_ptr + row * out_row + columns, sums, mask=mask)


def my_running_sum(x, out):
    n = x.shape[1]
    running_sum_kernel[(x.shape[0],)](x, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


# %% [markdown] tags=["hint"]
# PyTorch calls it `torch.cumsum(x, dim=0)`. Triton has a function of the same name, and says `axis`.

# %% tags=["check"]
check(my_running_sum, "running_sum")

# %% [markdown]
# ## Puzzle 10: one number from many programs
#
# A dot product of vectors that no single block holds. Every program has the sum of its own block, and all of them add to the one
# element of `out`. They run in no order, and two of them may read and write at one time: what one adds can be lost.
# [Atomics](../deeper/patterns-atomics.md) has a section about that.

# %% tags=["exercise"]
@triton.jit
def dot_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    y = tl.load(y_ptr + offsets, mask=offsets < n, other=0.0)
    part = tl.sum(x * y, axis=0)
    # YOUR TURN: add `part` to the number at `out_ptr`, so that nothing gets lost.
    # [solution]
    tl.atomic_add(out_ptr, part)
    # [/solution]


def my_dot(x, y, out):
    # YOUR TURN: give `out`, which holds anything, what it must hold before the first program adds to it.
    # [solution]
    out.zero_()
    # [/solution]
    dot_kernel[(triton.cdiv(len(x), 256),)](x, y, out, len(x), BLOCK=256)


# %% [markdown] tags=["hint"]
# `tl.atomic_add(pointer, value)` reads, adds and writes as one step that nobody can interrupt. A sum begins at 0, and
# PyTorch's `zero_()` fills a tensor in place.

# %% tags=["check"]
check(my_dot, "dot_product")

# %% [markdown]
# ## Puzzle 11: a histogram
#
# `x` holds whole numbers from 0 to 15, and `out[b]` counts how many of them equal `b`. If every lane added a 1 for itself, up to
# a whole block would wait for one address. So each program counts its block first, and then adds its 16 counts.

# %% tags=["exercise"]
@triton.jit
def count_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=-1)
    bins = tl.arange(0, 16)
    # YOUR TURN: compare every bin with every element, and set `counts`, a block of 16: how many of `x` equal each bin.
    # [solution]
    equal = bins[:, None] == x[None, :]
    counts = tl.sum(equal.to(tl.int32), axis=1)
    # [/solution]
    tl.atomic_add(out_ptr + bins, counts)


def my_histogram(x, out):
    out.zero_()
    count_kernel[(triton.cdiv(len(x), 256),)](x, out, len(x), BLOCK=256)


# %% [markdown] tags=["hint"]
# As in the outer product: `bins[:, None] == x[None, :]` is true or false for each pair. Convert it with `.to(tl.int32)`, and
# a sum along the right axis counts what is true. The lanes beyond the end hold -1, which is no bin.

# %% tags=["check"]
check(my_histogram, "histogram")

# %% [markdown]
# ## Puzzle 12: the inner loop of flash attention
#
# One query `q` looks at `n` keys. Its score with key `i` is `k[i] · q`, scaled; the weights are the softmax of all scores; the
# result is the sum of the values `v[i]`, each times its weight. Nobody needs all scores at once: walk over the keys in
# blocks, with the largest score so far, the sum of exponentials so far, and the weighted sum of values so far. It is
# online softmax, of [the softmax ladder](../course/softmax-ladder.md), with one more thing to scale.

# %% tags=["exercise"]
@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, k_row, v_row, n, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    d = tl.arange(0, D)
    q = tl.load(q_ptr + d) * scale
    largest = -float("inf")
    total = 0.0
    values = tl.zeros((D,), tl.float32)
    for start in range(0, n, BLOCK):
        keys = start + tl.arange(0, BLOCK)
        mask = keys[:, None] < n
        k = tl.load(k_ptr + keys[:, None] * k_row + d[None, :], mask=mask, other=0.0)
        v = tl.load(v_ptr + keys[:, None] * v_row + d[None, :], mask=mask, other=0.0)
        scores = tl.where(keys < n, tl.sum(k * q[None, :], axis=1), -float("inf"))
        new_largest = tl.maximum(largest, tl.max(scores, axis=0))
        weights = tl.exp(scores - new_largest)
        # YOUR TURN: set `new_total` and `new_values`: the old ones, scaled to the new maximum, and what this block adds.
        # [solution]
        old = tl.exp(largest - new_largest)
        new_total = total * old + tl.sum(weights, axis=0)
        new_values = values * old + tl.sum(weights[:, None] * v, axis=0)
        # [/solution]
        largest = new_largest
        total = new_total
        values = new_values
    tl.store(out_ptr + d, values / total)


def my_attention(q, k, v, out):
    d = len(q)
    attention_kernel[(1,)](q, k, v, out, k.stride(0), v.stride(0), len(k), d**-0.5, D=d, BLOCK=32)


# %% [markdown] tags=["hint"]
# What was added before was taken against `largest`. Times exp(largest - new_largest), it is taken against `new_largest`. That is
# so for the sum of exponentials, and just as much for each sum of values. This block adds the sum of `weights`, and the sum
# over its keys of each weight times its row of `v`.

# %% tags=["check"]
check(my_attention, "attention_row")

# %% [markdown]
# ## What you have
#
# Addresses that go forward, backward and across, masks in one and two dimensions, reductions along either axis, a scan,
# atomics, and the loop at the heart of flash attention. What is left to a fast kernel is which tiles, how many warps, and
# what the hardware can do beyond loads and stores: that is what the rest of the course measures.
