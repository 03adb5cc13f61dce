"""What the questions of the lesson ask, compiled or worked out: each line is the answer to one."""
import os

os.environ.pop("TRITON_INTERPRET", None)  # before triton is imported

import torch
import triton
import triton.language as tl

from kernels.tools.compile_only import compile_only

if not torch.cuda.is_available():
    print("No CUDA device found: the kernels are compiled for an H200. Nothing runs, not even the interpreter.")


@triton.jit
def tile_product(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK_K)
    total = tl.full([M, N], 0.0, tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + (start + inner)[None, :])
        b = tl.load(b_ptr + (start + inner)[:, None] * N + columns[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16))


def shared(num_warps, num_stages):
    x = torch.empty(128 * 4096, dtype=torch.bfloat16)
    options = {"num_warps": num_warps, "num_stages": num_stages}
    return compile_only(tile_product, x, x, x, 4096, M=128, N=128, BLOCK_K=64, **options).metadata.shared


print(f"warps: {shared(8, 3) / shared(4, 3):.1f}")
print(f"stages: {shared(8, 4) / shared(8, 2):.1f}")

sums = {warps: 128 * 256 // (32 * warps) for warps in (4, 8, 16)}
print(f"fewest: {min(warps for warps, each in sums.items() if each <= 128)}")
