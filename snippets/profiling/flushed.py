"""What do_bench flushes, and what a plain loop and do_bench_cudagraph leave in the L2 cache."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep

# --8<-- [start:flushed]
import torch
from triton.testing import do_bench, do_bench_cudagraph


def plain_loop(call, rounds=100):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(rounds):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / rounds


kept = {}
for megabytes in (8, 512):
    x = torch.randn(megabytes * 2**20 // 8, device="cuda")
    y = torch.empty_like(x)
    ways = {"do_bench": do_bench, "graph": do_bench_cudagraph, "loop": plain_loop}
    for name, way in ways.items():
        ms = way(lambda x=x, y=y: y.copy_(x))
        kept[f"{name}_{megabytes}"] = 2 * x.nbytes / ms / 1e6
        print(f"{megabytes:4} MiB copied, {name:9}{ms * 1e3:9.1f} us, {2 * x.nbytes / ms / 1e6:7,.0f} GB/s")
# --8<-- [end:flushed]
keep(figures=kept)
