"""Fewer configurations to try: leave out those that cannot fit, and rank the rest by a model before any is timed."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:product]
import triton
import triton.language as tl


@triton.jit
def pruned_product_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    # This program owns one tile of c; the blocks divide the sizes.
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # [BLOCK_M, 1]
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # [1, BLOCK_N]
    inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows * K + (k + inner)[None, :])  # [BLOCK_M, BLOCK_K]
        b = tl.load(b_ptr + (k + inner)[:, None] * N + columns)  # [BLOCK_K, BLOCK_N]
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows * N + columns, total)
# --8<-- [end:product]


# --8<-- [start:prune]
SHARED = 232448  # bytes that one program may have on an H200; python -m kernels.tools.hardware says yours
MULTIPROCESSORS = 132


def those_that_fit(configs, named_args, **kwargs):
    """Before anything is compiled: the stages' tiles of a and b, two bytes a number."""
    fit = []
    for c in configs:
        rows = c.kwargs["BLOCK_M"] + c.kwargs["BLOCK_N"]
        if c.num_stages * rows * c.kwargs["BLOCK_K"] * 2 <= SHARED:
            fit.append(c)
    return fit or configs[:1]  # an empty list would be an error


def busiest(M, N, K, BLOCK_M, BLOCK_N, BLOCK_K, **others):
    """The products that the busiest multiprocessor has to do, and loads for each."""
    tiles = triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N)
    a_tile = BLOCK_M * BLOCK_N * K
    loads = (BLOCK_M + BLOCK_N) * K
    return triton.cdiv(tiles, MULTIPROCESSORS) * (a_tile + 64 * loads)


def count_trials(call, quantiles):
    trials.append(1)
    return [float(len(trials))] * len(quantiles)


configs = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=8, num_stages=s)
    for m in (64, 128, 256) for n in (64, 128, 256) for k in (32, 64, 128) for s in (2, 3, 4)
]
a, b = (torch.randn(256, 256).half() for _ in range(2))
if torch.cuda.is_available():
    a, b = a.cuda(), b.cuda()


def grid(meta):
    return (256 // meta["BLOCK_M"], 256 // meta["BLOCK_N"])


fits = {"early_config_prune": those_that_fit}
modeled = fits | {"perf_model": busiest, "top_k": 6}
for prune in ({}, fits, modeled, modeled | {"top_k": 0.1}):
    trials, c = [], torch.empty_like(a)
    decorate = triton.autotune(configs, ["M", "N", "K"], prune, do_bench=count_trials)
    tuned = decorate(pruned_product_kernel)
    tuned[grid](a, b, c, 256, 256, 256)
    torch.testing.assert_close(c, (a.float() @ b.float()).half(), rtol=1e-2, atol=1e-1)
    print(f"{len(trials)} tried, the first with {list(tuned.best_config.kwargs.values())}")
    #> 81 tried, the first with [64, 64, 32]
    #> 68 tried, the first with [64, 64, 32]
    #> 6 tried, the first with [64, 64, 32]
    #> 8 tried, the first with [64, 64, 32]
# --8<-- [end:prune]
