"""Sum one array a hundred times, in two ways: do the results agree to the last bit?"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import keep


@triton.jit
def block_sum_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, ATOMIC: tl.constexpr):
    pid = tl.program_id(0)
    total = tl.sum(tl.load(x_ptr + pid * BLOCK + tl.arange(0, BLOCK)), axis=0)
    if ATOMIC:
        tl.atomic_add(out_ptr, total)  # in the order in which the programs come
    else:
        tl.store(out_ptr + pid, total)


def two_stage(x):
    partial, out = torch.empty(1024, device="cuda"), torch.empty(1, device="cuda")
    block_sum_kernel[(1024,)](x, partial, BLOCK=1024, ATOMIC=False)
    block_sum_kernel[(1,)](partial, out, BLOCK=1024, ATOMIC=False)
    return out


def atomic(x):
    out = torch.zeros(1, device="cuda")
    block_sum_kernel[(1024,)](x, out, BLOCK=1024, ATOMIC=True)
    return out


torch.manual_seed(0)
x = torch.randn(2**20, device="cuda")
exact = x.double().sum().item()
figures = {}
for way in (two_stage, atomic):
    results = {way(x).item() for _ in range(100)}
    worst = max(abs(result - exact) for result in results)
    figures[way.__name__] = len(results)
    print(f"{way.__name__}: {len(results)} different results in 100 runs,", end=" ")
    print(f"error at most {worst:.1e}")
keep(figures=figures)
