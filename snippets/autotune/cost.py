"""What tuning costs: seconds to compile and to time, launches of the first call, and the look-up of every later call."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import os
import tempfile

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()  # an empty one, so that everything is compiled

import time

import triton
import triton.language as tl

from kernels.tools.benchmark import keep

launches = 0


@triton.jit
def costly_product_kernel(
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


def count_launches(arguments):
    global launches
    launches += 1


TILES = [(64, 64, 64, 4, 4), (64, 128, 64, 4, 4), (128, 64, 64, 4, 4), (128, 128, 32, 4, 4), (128, 128, 64, 4, 3)]
TILES += [(128, 128, 64, 8, 3), (128, 128, 64, 8, 4), (128, 256, 32, 8, 4), (128, 256, 64, 8, 3), (256, 128, 64, 8, 3)]
configs = [
    triton.Config(dict(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k), num_warps=warps, num_stages=stages, pre_hook=count_launches)
    for m, n, k, warps, stages in TILES
]
tuned = triton.autotune(configs, key=["M", "N", "K"])(costly_product_kernel)
a, b, c = (torch.randn(4096, 4096, device="cuda").bfloat16() for _ in range(3))


def grid(meta):
    return (triton.cdiv(4096, meta["BLOCK_M"]) * triton.cdiv(4096, meta["BLOCK_N"]),)


def seconds(call):
    torch.cuda.synchronize()
    began = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - began


def host_us(call, calls=200):
    """Python's share of a call: it only queues, and few calls fit into the queue."""
    call()
    torch.cuda.synchronize()
    times = []
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(calls // 5):
            call()
        times.append((time.perf_counter() - began) / (calls // 5) * 1e6)
        torch.cuda.synchronize()
    return sorted(times)[2]


first = seconds(lambda: tuned[grid](a, b, c, 4096, 4096, 4096))
torch.testing.assert_close(c, (a.float() @ b.float()).bfloat16(), rtol=2e-2, atol=1.0)
found = {"configurations": len(configs), "first_seconds": first, "first_launches": launches}
launches = 0
found["second_seconds"] = seconds(lambda: tuned[grid](a, b, c, 4096, 4096, 4096))
found["second_launches"] = launches
tuned.cache.clear()  # what a new shape finds: everything compiled, nothing timed
found["again_seconds"] = seconds(lambda: tuned[grid](a, b, c, 4096, 4096, 4096))

# One small tile, so that the GPU is done before Python is.
small = [torch.randn(64, 64, device="cuda").bfloat16() for _ in range(3)]
plain = [triton.Config(config.kwargs, config.num_warps, config.num_stages) for config in configs[:1] * 2]
best = triton.autotune(plain, key=["M", "N", "K"])(costly_product_kernel)
one = (1,)


def direct():
    return costly_product_kernel[one](*small, 64, 64, 64, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64, num_warps=4, num_stages=4)


def looked_up():
    return best[one](*small, 64, 64, 64)


looked_up()
found["direct_us"], found["looked_up_us"] = host_us(direct), host_us(looked_up)
print(f"{len(configs)} configurations")
print(f"first call: {first:.2f} s, {found['first_launches']} launches")
print(f"second call: {found['second_seconds'] * 1e6:.0f} us, {found['second_launches']} launches")
print(f"tuned again, nothing to compile: {found['again_seconds']:.2f} s")
print(f"Python's share of a call: {found['direct_us']:.1f} us direct, {found['looked_up_us']:.1f} us through the tuner")
keep(figures=found)
