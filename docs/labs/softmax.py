# %% [markdown]
# # Lab 2: softmax
#
# Softmax turns a row of numbers into positive ones that sum to one. You write it for rows that fit into a block, then for rows
# of any length. Before you start, read [Fused softmax](../course/fused-softmax.md), and for the second half
# [Softmax, step by step](../course/softmax-ladder.md).
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
# ## Step 1: the largest element of a row
#
# One program, one row. A block's length is a power of two, and a row's need not be, so some lanes are masked off. A load says
# with `other` what those lanes hold. Without it they hold anything. For a maximum they must hold something that never wins.

# %% tags=["exercise"]
@triton.jit
def row_max_kernel(x_ptr, out_ptr, x_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    # YOUR TURN: load the row into `x`, with a mask and a fitting `other`.
    # [solution]
    x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
    # [/solution]
    tl.store(out_ptr + row, tl.max(x, axis=0))


def my_row_max(x, out):
    n = x.shape[1]
    row_max_kernel[(x.shape[0],)](x, out, x.stride(0), n, BLOCK=triton.next_power_of_2(n))


# %% [markdown] tags=["hint"]
# Is 0 smaller than every element of a row such as -5, -3, -4? Which number is smaller than all others?

# %% tags=["check"]
check(my_row_max, "row_max")

# %% [markdown]
# ## Step 2: softmax of a row
#
# The result is exp(x[j]) divided by the sum of all exp(x[k]). But exp(200) is more than float32 can hold. Subtracting the
# row's maximum from every element changes nothing in the result, and no exponent is above 0 then.

# %% tags=["exercise"]
@triton.jit
def softmax_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_row + columns, mask=mask, other=-float("inf")).to(tl.float32)
    # YOUR TURN: set `numerator`, the exponentials after subtracting the row's maximum.
    # [solution]
    numerator = tl.exp(x - tl.max(x, axis=0))
    # [/solution]
    # YOUR TURN: set `y`, the numerators divided by their sum.
    # [solution]
    y = numerator / tl.sum(numerator, axis=0)
    # [/solution]
    tl.store(out_ptr + row * out_row + columns, y, mask=mask)


def my_softmax(x, out):
    n = x.shape[1]
    softmax_kernel[(x.shape[0],)](x, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


# %% [markdown] tags=["hint"]
# `tl.max(x, axis=0)` and `tl.sum(x, axis=0)` each make one number of a block. The masked lanes hold -inf: what is exp(-inf),
# and does it disturb the sum?

# %% tags=["check"]
step_2 = check(my_softmax, "row_softmax")

# %% [markdown]
# ## Step 3: beside PyTorch
#
# The same numbers as `torch.softmax`? Not bit by bit: the order of a sum is not the same. The cell prints the largest
# difference, as a share of the element. A float32 keeps 24 binary digits, so the last one is worth up to 2⁻²³ of the number,
# about 1.2e-07. The difference should be a few of these.

# %%
x = torch.randn(64, 1000, device=device)
out = torch.empty_like(x)
if step_2:
    my_softmax(x, out)
    expected = torch.softmax(x, dim=1)
    print(f"largest difference: {((out - expected).abs() / expected).max().item():.1e} of the element")
else:
    print("Finish step 2 first.")

# %% [markdown]
# ## Step 4: rows longer than a block
#
# A block has its limits, and a row need not. So walk over the row in blocks of 1024, and keep two numbers: the largest
# element so far, and the sum of exp(x - largest) so far. When a block brings a larger maximum, the old sum was taken against
# the wrong one, and has to be scaled. This is *online softmax*.

# %% tags=["exercise"]
@triton.jit
def long_softmax_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    largest = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(largest, tl.max(x, axis=0))
        # YOUR TURN: scale the old `total` from the maximum `largest` to `new`, and add this block's exponentials.
        # [solution]
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(x - new), axis=0)
        # [/solution]
        largest = new
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        # YOUR TURN: load the block again, and store its softmax. `largest` and `total` are the whole row's now.
        # [solution]
        x = tl.load(x_ptr + row * x_row + columns, mask=mask, other=-float("inf")).to(tl.float32)
        tl.store(out_ptr + row * out_row + columns, tl.exp(x - largest) / total, mask=mask)
        # [/solution]


def my_long_softmax(x, out):
    long_softmax_kernel[(x.shape[0],)](x, out, x.stride(0), out.stride(0), x.shape[1], BLOCK=1024)


# %% [markdown] tags=["hint"]
# The old total is a sum of exp(x - largest). You want the sum of exp(x - new). Each term is the old one times
# exp(largest - new), so the total is as well. At the first block the total is 0, and exp(-inf) is 0 too. The second loop
# keeps no running numbers: an element's softmax is exp(x - largest) / total, and the load is the one of the first loop.

# %% tags=["check"]
check(my_long_softmax, "long_softmax")

# %% [markdown]
# ## Step 5: rows that lie far apart
#
# `tl.program_id` is an int32, and so is a stride that fits into 32 bits. Their product is an int32 too, however large it ought
# to be. Row 2 of a matrix whose rows lie 2³⁰ elements apart begins at 2³¹, which an int32 cannot hold: it turns negative,
# without a word. The kernels above convert the row's number to 64 bits first. This one does not yet.
#
# On a CPU the check passes a matrix that only says its rows lie so far apart. On a GPU the memory would have to be there, 16 GiB
# of it, so the check there has rows that lie near, and it passes a kernel that never converts.

# %% tags=["exercise"]
@triton.jit
def far_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    # YOUR TURN: set `row` to this program's number, in 64 bits.
    # [solution]
    row = tl.program_id(0).to(tl.int64)
    # [/solution]
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_row + columns, mask=mask, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_row + columns, numerator / tl.sum(numerator, axis=0), mask=mask)


def my_far_softmax(x, out):
    n = x.shape[1]
    far_kernel[(x.shape[0],)](x, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


# %% [markdown] tags=["hint"]
# A block or a number is converted with `.to(...)`. The dtype is `tl.int64`. Convert before the multiplication, not after it:
# try both.

# %% tags=["check"]
check(my_far_softmax, "far_rows")

# %% [markdown]
# ## What you have
#
# A softmax that is right for large values, for rows of any length, and for rows anywhere in memory. (A row whose first block
# is all -inf comes out as NaN: a maximum of -inf is subtracted from -inf. The library's kernels guard against that.) On a GPU
# the checks say how fast it is beside `torch.softmax`; [Softmax, step by step](../course/softmax-ladder.md) has the rest.
