"""Sum one array a hundred times, in three ways: which of them give the same bits every time?"""
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
def meet_again_kernel(
    x_ptr, out_ptr, partial_ptr, arrived_ptr, n_elements,
    BLOCK: tl.constexpr, PROGRAMS: tl.constexpr, WAY: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    lanes = tl.zeros([BLOCK], tl.float32)
    for start in range(pid * BLOCK, n_elements, PROGRAMS * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        lanes += tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    total = tl.sum(lanes, axis=0)
    if WAY == "atomic":
        tl.atomic_add(out_ptr, total)
    else:
        tl.store(partial_ptr + pid, total)
    if WAY == "last":
        before = tl.atomic_add(arrived_ptr, 1)
        if before == PROGRAMS - 1:  # all others have been here
            partial = tl.load(partial_ptr + tl.arange(0, PROGRAMS))
            tl.store(out_ptr, tl.sum(partial, axis=0))
            tl.store(arrived_ptr, 0)  # ready for the next launch


# --8<-- [start:twice]
def total(x, way, programs=512, block=2048):
    out, partial = torch.zeros((), device="cuda"), torch.empty(programs, device="cuda")
    arrived = torch.zeros((), dtype=torch.int32, device="cuda")
    sizes = (x.numel(), block, programs)
    meet_again_kernel[(programs,)](x, out, partial, arrived, *sizes, way)
    if way == "two launches":
        meet_again_kernel[(1,)](partial, out, out, out, programs, programs, 1, way)
    return out


torch.manual_seed(0)
x = torch.randn(2**24, device="cuda")
exact = x.double().sum().item()
figures = {}
for way in ("two launches", "atomic", "last"):
    results = [total(x, way).item() for _ in range(100)]
    errors = [abs(result - exact) for result in results]
    figures[way.replace(" ", "_")] = {"results": len(set(results)), "error": max(errors)}
    print(f"{way:12} {len(set(results)):3} results in 100 runs,", end=" ")
    print(f"error at most {max(errors):.1e}")
# --8<-- [end:twice]
keep(figures=figures)
