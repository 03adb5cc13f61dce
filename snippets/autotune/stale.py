"""A key without the number of rows, measured: what was best for 64 rows serves 8192."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import alternate, keep, quantiles


@triton.jit
def stale_product_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    # This program owns one tile of c; the blocks divide N and K.
    tile = tl.program_id(0).to(tl.int64)
    n_columns = tl.cdiv(N, BLOCK_N)
    rows = tile // n_columns * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # [BLOCK_M, 1]
    columns = tile % n_columns * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N]
    inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
    a_ptrs, b_ptrs = a_ptr + rows * K + inner[None, :], b_ptr + inner[:, None] * N + columns
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        total = tl.dot(tl.load(a_ptrs, mask=rows < M, other=0.0), tl.load(b_ptrs), total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c_ptr + rows * N + columns, total, mask=rows < M)


configs = [
    triton.Config({"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 128}, num_warps=4, num_stages=5),
    triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 128}, num_warps=4, num_stages=4),
    triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}, num_warps=8, num_stages=4),
    triton.Config({"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}, num_warps=8, num_stages=3),
]
tuned = {
    "with M": triton.autotune(configs, key=["M", "N", "K"])(stale_product_kernel),
    "without": triton.autotune(configs, key=["N", "K"])(stale_product_kernel),
}


def multiply(which, a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, device="cuda", dtype=a.dtype)

    def grid(meta):
        return (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)

    tuned[which][grid](a, b, c, M, N, K)
    return c


torch.manual_seed(0)
b = torch.randn(4096, 4096, device="cuda").bfloat16()
found = {}
for rows in (64, 8192):  # in this order
    a = torch.randn(rows, 4096, device="cuda").bfloat16()
    expected = (a.float() @ b.float()).bfloat16()
    for which in tuned:
        torch.testing.assert_close(multiply(which, a, b), expected, rtol=2e-2, atol=1.0)
    times = alternate([lambda which=which: multiply(which, a, b) for which in tuned])
    for which, measured in zip(tuned, times, strict=True):
        config = tuned[which].best_config
        tile = "x".join(str(size) for size in config.kwargs.values())
        us = quantiles(measured)[1] * 1e3
        print(f"{rows:5} rows, key {which:8} {tile:12} {us:9.1f} us")
        found[f"{which.replace(' ', '_')}_{rows}"] = {"us": us, "tile": tile}
keep(figures=found)
