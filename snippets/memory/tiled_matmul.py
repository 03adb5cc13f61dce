"""Multiply two matrices tile by tile, check the product, and on a GPU time square tiles of four sizes."""
import os
from functools import partial

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import Benchmark


# --8<-- [start:kernel]
@triton.jit
def tiled_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # This program owns one tile of c; the three matrices are stored row by row.
    m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    c = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (m < M) & (k[None, :] < K)  # [BLOCK_M, BLOCK_K]
        b_mask = (k[:, None] < K) & (n < N)  # [BLOCK_K, BLOCK_N]
        a = tl.load(a_ptr + m * K + k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=b_mask, other=0.0)
        c = tl.dot(a, b, c)  # [BLOCK_M, BLOCK_N]
    tl.store(c_ptr + m * N + n, c, mask=(m < M) & (n < N))
# --8<-- [end:kernel]


# --8<-- [start:launch]
def tiled_matmul(a: torch.Tensor, b: torch.Tensor, block: int) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    sides = {"BLOCK_M": block, "BLOCK_N": block, "BLOCK_K": block}
    tiled_matmul_kernel[grid](a, b, c, M, N, K, **sides)
    return c


device = "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randint(-4, 5, (100, 80), device=device).half()
b = torch.randint(-4, 5, (80, 90), device=device).half()
for block in (16, 32, 64):
    c = tiled_matmul(a, b, block)
    print(f"tiles of {block}, same as PyTorch:", torch.equal(c.float(), a.float() @ b.float()))
#> tiles of 16, same as PyTorch: True
#> tiles of 32, same as PyTorch: True
#> tiles of 64, same as PyTorch: True
# --8<-- [end:launch]

if device == "cuda":
    benchmark = Benchmark()
    a, b = (torch.randn(2048, 2048, device="cuda").half() for _ in range(2))
    benchmark.case(
        "matmul_by_tile", "fwd", "2048x2048x2048", torch.float16, moved=3 * a.nbytes, flops=2 * 2048**3,
        implementations={f"block_{n}": partial(tiled_matmul, a, b, n) for n in (16, 32, 64, 128)},
        expected=a.double() @ b.double(),
    )
    benchmark.finish()
