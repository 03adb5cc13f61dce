# %% [markdown]
# # Lab 3: a matrix product
#
# You write a tiled product, let Triton choose its tiles, and give it an epilogue. Before you start, read
# [Grid math](../course/grid-math.md) for tiles and strides, and the tiled product in
# [Bigger blocks and tiles](../deeper/memory-tiles.md).
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
# ## Step 1: a tile of the product
#
# `out = a @ b`, where `a` is M by K and `b` is K by N. One program owns a tile of `out`, and walks along K in steps: a
# tile of `a` times a tile of `b`, added to what it has. The inputs are float16 views with any strides, and the sum is
# float32. Missing are the two loads. Each needs a mask for both of its dimensions, because no side need be a multiple of
# the tile.

# %% tags=["exercise"]
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, out_ptr, M, N, K, a_m, a_k, b_k, b_n, out_m, out_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        # YOUR TURN: load the tile of `a`, BLOCK_M by BLOCK_K, into `a`, and the tile of `b`, BLOCK_K by BLOCK_N, into `b`.
        # [solution]
        a_mask = (rows[:, None] < M) & (inner[None, :] < K)
        a = tl.load(a_ptr + rows[:, None] * a_m + inner[None, :] * a_k, mask=a_mask, other=0.0)
        b_mask = (inner[:, None] < K) & (columns[None, :] < N)
        b = tl.load(b_ptr + inner[:, None] * b_k + columns[None, :] * b_n, mask=b_mask, other=0.0)
        # [/solution]
        total = tl.dot(a, b, total)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out_ptr + rows[:, None] * out_m + columns[None, :] * out_n, total, mask=mask)


def my_matmul(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
    strides = (*a.stride(), *b.stride(), *out.stride())
    matmul_kernel[grid](a, b, out, M, N, K, *strides, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)


# %% [markdown] tags=["hint"]
# a[i, k] lies at `a_ptr + i * a_m + k * a_k`. The tile's rows are `rows[:, None]`, and its columns are `inner[None, :]`.
# A tile of `b` has `inner` for its rows. What must a lane beyond K hold, so that it adds nothing to a sum of products?

# %% tags=["check"]
check(my_matmul, "tiled_matmul")

# %% [markdown]
# ## Step 2: let Triton choose the tiles
#
# Which tiles are fast depends on the GPU and on the sizes. `triton.autotune` times each configuration the first time that
# the kernel meets new values of the arguments in `key`, and keeps the fastest. Here are the configurations; the
# interpreter, which cannot time anything, gets only one, with small tiles. The grid must now follow from the configuration:
# it is a function of `meta`, the kernel's compile-time arguments by name. [Autotune](../course/autotune.md) tells the rest.
#
# On a GPU the check ends with the time of a square bfloat16 product beside PyTorch's, which is cuBLAS. Seven tenths of its
# speed is the mark to reach here. On this lab's page of the site, the solution's fold holds what the check said of it, and on
# which machine; in a notebook, the check says what your kernel reaches on yours. What the fixed tiles of step 1 leave behind is
# what tuning is for.

# %% tags=["exercise"]
configs = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in [(64, 64, 32, 4, 3), (128, 128, 64, 4, 3), (128, 128, 64, 8, 4), (128, 256, 64, 8, 3)]
]
if device == "cpu":
    configs = [triton.Config({"BLOCK_M": 32, "BLOCK_N": 16, "BLOCK_K": 32})]
tuned_kernel = triton.autotune(configs, key=["M", "N", "K"])(matmul_kernel)


def my_tuned_matmul(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    # YOUR TURN: set `grid` to a function of `meta` that gives the tuple of both numbers of programs.
    # [solution]
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))
    # [/solution]
    tuned_kernel[grid](a, b, out, M, N, K, *a.stride(), *b.stride(), *out.stride())


# %% [markdown] tags=["hint"]
# Before, the grid was `(triton.cdiv(M, 64), triton.cdiv(N, 64))`. Put `lambda meta:` before it, and take
# `meta["BLOCK_M"]` and `meta["BLOCK_N"]` for the numbers.

# %% tags=["check"]
check(my_tuned_matmul, "tiled_matmul")

# %% [markdown]
# ## Step 3: an epilogue
#
# What follows a product element by element costs no pass over memory of its own if the kernel does it to `total`, before
# the store. Here it is a ReLU: everything below 0 becomes 0. The tiles are those of step 1.

# %% tags=["exercise"]
@triton.jit
def matmul_relu_kernel(
    a_ptr, b_ptr, out_ptr, M, N, K, a_m, a_k, b_k, b_n, out_m, out_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        a_mask = (rows[:, None] < M) & (inner[None, :] < K)
        a = tl.load(a_ptr + rows[:, None] * a_m + inner[None, :] * a_k, mask=a_mask, other=0.0)
        b_mask = (inner[:, None] < K) & (columns[None, :] < N)
        b = tl.load(b_ptr + inner[:, None] * b_k + columns[None, :] * b_n, mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    # YOUR TURN: set `result` to the ReLU of the total.
    # [solution]
    result = tl.maximum(total, 0.0)
    # [/solution]
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out_ptr + rows[:, None] * out_m + columns[None, :] * out_n, result, mask=mask)


def my_matmul_relu(a, b, out):
    M, K = a.shape
    N = b.shape[1]
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
    strides = (*a.stride(), *b.stride(), *out.stride())
    matmul_relu_kernel[grid](a, b, out, M, N, K, *strides, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)


# %% [markdown] tags=["hint"]
# `tl.maximum` takes the larger of two, lane by lane. Why may it not stand within the loop?

# %% tags=["check"]
check(my_matmul_relu, "matmul_relu")

# %% [markdown]
# ## What you have
#
# A product for any sizes and strides, with its sum in float32, tiles chosen by measurement, and an epilogue
# that costs no pass over memory.
# On a GPU the checks say how it compares with PyTorch's library. [The ladder](../course/matmul-ladder.md) climbs on from
# here, one measured step at a time.
