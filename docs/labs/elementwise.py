# %% [markdown]
# # Lab 1: element-wise kernels
#
# You write five small kernels here, a few lines at a time. [Your first kernel](../course/first-kernel.md) is all that you need to
# have read. [Masking](../course/masking.md) and [Grid math](../course/grid-math.md) go on from steps 2 and 3.
#
# Each step has a kernel with lines missing, marked `YOUR TURN`. Fill them in, run the cell, and run the check below it. The
# check calls your function with sizes that it does not show you, and says what went wrong, in which program and which lanes.
# A hint unfolds under each step, and the solution after it.
#
# Run this cell first. Without a GPU, Triton's interpreter runs the kernels on the CPU. It is slower, and it is more lenient: some
# code that it runs does not compile for a GPU, and programs that would race for one element take turns. A correct kernel of this
# lab gives the same results on both, up to rounding.

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
# ## Step 1: which elements are mine?
#
# This kernel copies a vector. Each program owns `BLOCK` neighboring elements: program 0 the first `BLOCK`, program 1 the
# next, and so on. Everything is there except the line that says where a program's elements are.

# %% tags=["exercise"]
@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    # YOUR TURN: set `offsets`, a block with the indices of this program's elements.
    # [solution]
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    # [/solution]
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def my_copy(x, out):
    copy_kernel[(triton.cdiv(len(x), 256),)](x, out, len(x), BLOCK=256)


# %% [markdown] tags=["hint"]
# `tl.arange(0, BLOCK)` is the block 0, 1, ..., `BLOCK - 1`. That is right for program 0. How far must program 1 move it on?
# And program `pid`?

# %% tags=["check"]
check(my_copy, "copy")

# %% [markdown]
# ## Step 2: the lanes beyond the end
#
# A vector of 1000 elements and blocks of 256 make four programs with 1024 lanes. The last 24 lanes of program 3 point at
# memory that is not yours. A mask switches them off.

# %% tags=["exercise"]
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # YOUR TURN: set `mask`, true in the lanes that own an element.
    # [solution]
    mask = offsets < n
    # [/solution]
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def my_add(x, y, out):
    add_kernel[(triton.cdiv(len(x), 256),)](x, y, out, len(x), BLOCK=256)


# %% [markdown] tags=["hint"]
# A comparison of a block with a number is a block of true and false. The elements are numbered from 0 to n - 1. Is the
# element with the number n one of them?

# %% tags=["check"]
check(my_add, "vector_add")

# %% [markdown]
# Try what the check says to `offsets <= n`, and to a store without its mask.
#
# ## Step 3: how many programs?
#
# The same kernel, with the launch missing. The grid is a tuple: how many programs there are along each axis. Every element needs
# an owner, for every length.

# %% tags=["exercise"]
def my_launch(x, y, out):
    block = 128
    # YOUR TURN: set `grid`, a tuple with the number of programs.
    # [solution]
    grid = (triton.cdiv(len(x), block),)
    # [/solution]
    add_kernel[grid](x, y, out, len(x), BLOCK=block)


# %% [markdown] tags=["hint"]
# `len(x) // block` rounds down, and leaves the last elements without a program. `triton.cdiv` rounds up. A tuple with one
# number needs a comma: `(4,)`.

# %% tags=["check"]
check(my_launch, "vector_add")

# %% [markdown]
# On a GPU, hold the time beside that of step 2. It is the same kernel with blocks of half the length, so each thread moves half
# as much. Try other lengths; [Bigger blocks and tiles](../deeper/memory-tiles.md) has the
# measurements.
#
# ## Step 4: an activation, fused
#
# Now `x` is a matrix, and one program owns one row. Add the bias and apply SiLU, `t * sigmoid(t)`, in one kernel: PyTorch
# would write `x + bias` to memory and read it back. The two loads and the formula are yours. The rows of `x` need not lie
# side by side in memory, so the way from row to row is an argument, `x_row`. And the inputs may be float16, while
# `tl.sigmoid` wants float32.

# %% tags=["exercise"]
@triton.jit
def silu_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    # YOUR TURN: load this row of `x` and the bias, each converted to float32, and set `x` and `bias`.
    # [solution]
    x = tl.load(x_ptr + row * x_row + columns, mask=mask).to(tl.float32)
    bias = tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    # [/solution]
    t = x + bias
    # YOUR TURN: set `y` to SiLU of t.
    # [solution]
    y = t * tl.sigmoid(t)
    # [/solution]
    tl.store(out_ptr + row * out_row + columns, y, mask=mask)


def my_silu(x, bias, out):
    n = x.shape[1]
    silu_kernel[(x.shape[0],)](x, bias, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


# %% [markdown] tags=["hint"]
# Row `row` begins at `x_ptr + row * x_row`. Its elements follow one another, at `columns`. The bias has one element for each
# column and is the same for every row. A block is converted with `.to(tl.float32)`.

# %% tags=["check"]
check(my_silu, "fused_activation")

# %% [markdown]
# ## Step 5: one of your own
#
# Invent an activation, as a formula in PyTorch and as a kernel. This one is the square of what is positive. Write yours, or
# this one: the check compares the two, with the same hidden matrices as before.

# %% tags=["exercise"]
def formula(x, bias):
    return torch.relu(x + bias) ** 2


@triton.jit
def own_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    t = tl.load(x_ptr + row * x_row + columns, mask=mask).to(tl.float32)
    t += tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    # YOUR TURN: set `y` to your formula of t.
    # [solution]
    positive = tl.maximum(t, 0.0)
    y = positive * positive
    # [/solution]
    tl.store(out_ptr + row * out_row + columns, y, mask=mask)


def my_own(x, bias, out):
    n = x.shape[1]
    own_kernel[(x.shape[0],)](x, bias, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


# %% [markdown] tags=["hint"]
# `tl.maximum`, `tl.exp`, `tl.where` and `tl.sigmoid` work lane by lane. `**` does not work on blocks: the square of a block is
# the block times itself, such as `positive * positive`. Formulas with a hyperbolic tangent can be written with `tl.sigmoid`:
# tanh(t) = 2 sigmoid(2t) - 1.

# %% tags=["check"]
check(my_own, "fused_activation", expected=formula)

# %% [markdown]
# ## What you have
#
# Offsets, a mask, a grid, a row that lies anywhere in memory, and arithmetic in float32. Every kernel of the course begins with
# these lines. [Lab 2](softmax.md) adds what rows have in common: a maximum and a sum.
