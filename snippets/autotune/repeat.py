"""Tune the same kernel for the same shape twenty times: which configuration wins, and what the choice costs."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import time

import triton
import triton.language as tl

from kernels.tools.benchmark import alternate, keep, quantiles

BUDGET = 45  # seconds


@triton.jit
def repeated_product_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    # This program owns one tile of c; the blocks divide the sizes.
    tile = tl.program_id(0).to(tl.int64)
    n_columns = tl.cdiv(N, BLOCK_N)
    rows = tile // n_columns * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # [BLOCK_M, 1]
    columns = tile % n_columns * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N]
    inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
    a_ptrs, b_ptrs = a_ptr + rows * K + inner[None, :], b_ptr + inner[:, None] * N + columns
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c_ptr + rows * N + columns, total)


TILES = [(64, 64, 64, 4, 4), (64, 128, 64, 4, 3), (64, 128, 64, 4, 4), (128, 64, 64, 4, 4), (128, 128, 64, 4, 3)]
TILES += [(128, 128, 64, 8, 3), (128, 128, 64, 8, 4), (128, 128, 32, 8, 4)]
configs = [
    triton.Config(dict(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k), num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in TILES
]
tuned = triton.autotune(configs, key=["M", "N", "K"])(repeated_product_kernel)
size, began = 1024, time.monotonic()
a, b, c = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(3))


def grid(meta):
    return (triton.cdiv(size, meta["BLOCK_M"]) * triton.cdiv(size, meta["BLOCK_N"]),)


wins, said = [0] * len(configs), [[] for _ in configs]
for _ in range(20):
    if time.monotonic() - began > BUDGET:
        break
    tuned.cache.clear()
    tuned[grid](a, b, c, size, size, size)
    wins[configs.index(tuned.best_config)] += 1
    for times, config in zip(said, configs, strict=True):
        times.append(tuned.configs_timings[config][0] * 1e3)

expected = (a.float() @ b.float()).bfloat16()


def launch(config):
    return lambda: repeated_product_kernel[grid](a, b, c, size, size, size, **config.all_kwargs())


for config in configs:
    c.fill_(torch.nan)
    launch(config)()
    torch.testing.assert_close(c, expected, rtol=2e-2, atol=1.0)
measured = [quantiles(times) for times in alternate([launch(config) for config in configs])]
rows = []
for tile, won, times, ms in zip(TILES, wins, said, measured, strict=True):
    low, high = min(times), max(times)
    names = ("block_m", "block_n", "block_k", "num_warps", "num_stages")
    row = dict(zip(names, tile, strict=True))
    rows.append(row | {"wins": won, "said_low_us": low, "said_high_us": high, "us": ms[1] * 1e3})
best = min(row["us"] for row in rows)
chosen = [row for row in rows if row["wins"]]
for row in sorted(rows, key=lambda row: row["us"]):
    tile = "x".join(str(row[name]) for name in ("block_m", "block_n", "block_k"))
    said_us = f"{row['said_low_us']:6.1f} to {row['said_high_us']:6.1f} us"
    name = f"{tile:12} {row['num_warps']} warps, {row['num_stages']} stages"
    print(f"{name}: {row['wins']:2} wins, the tuner saw {said_us}, {row['us']:6.1f} us in turns")
regret = max(row["us"] for row in chosen) / best - 1
print(f"{sum(wins)} searches, {len(chosen)} winners; the worst of them is {regret:.1%} slower than the best")
keep(figures={"rows": rows, "searches": sum(wins), "winners": len(chosen), "regret": regret, "size": size})
