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
def tile_of_product(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK_K)
    total = tl.full([M, N], 0.0, tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + (start + inner)[None, :])
        b = tl.load(b_ptr + (start + inner)[:, None] * N + columns[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16))


def compiled(m, num_warps, block_k=64):
    x = torch.empty(128 * 4096, dtype=torch.bfloat16)
    sides = {"M": m, "N": 128, "BLOCK_K": block_k}
    return compile_only(tile_of_product, x, x, x, 4096, **sides, num_warps=num_warps, num_stages=3)


ways = {"low": (16, 4), "two": (128, 2), "four": (64, 4)}
for name, (m, num_warps) in ways.items():
    if "wgmma.mma_async" in compiled(m, num_warps).asm["ptx"]:
        print(f"wgmma: {name}")

print(f"block_k: {compiled(128, 8, 128).metadata.shared / compiled(128, 8, 64).metadata.shared:.1f}")

tiles = triton.cdiv(3072, 128) * triton.cdiv(3072, 256)
print(f"busy: {tiles / (132 * triton.cdiv(tiles, 132)):.2f}")
