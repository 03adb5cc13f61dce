"""Time three ways to sum an array, a fourth with a lock, and the library's, over sizes."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark
from kernels.reductions import sum


@triton.jit
def timed_meet_kernel(
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
    elif WAY == "lock":
        while tl.atomic_cas(arrived_ptr, 0, 1) == 1:
            pass
        tl.store(out_ptr, tl.load(out_ptr, volatile=True) + total)
        tl.debug_barrier()
        tl.atomic_xchg(arrived_ptr, 0)
    else:
        tl.store(partial_ptr + pid, total)
    if WAY == "last":
        before = tl.atomic_add(arrived_ptr, 1)
        if before == PROGRAMS - 1:  # all others have been here
            partial = tl.load(partial_ptr + tl.arange(0, PROGRAMS))
            tl.store(out_ptr, tl.sum(partial, axis=0))
            tl.store(arrived_ptr, 0)  # ready for the next launch


PROGRAMS, BLOCK = 512, 4096
arrived = torch.zeros((), dtype=torch.int32, device="cuda")
torch.cuda.synchronize()


def total(x, way):
    out = (torch.empty if way in ("last", "two_launches") else torch.zeros)((), device="cuda")
    partial = torch.empty(PROGRAMS, device="cuda")
    sizes = (x.numel(), BLOCK, PROGRAMS)
    timed_meet_kernel[(PROGRAMS,)](x, out, partial, arrived, *sizes, way, num_warps=8)
    if way == "two_launches":
        timed_meet_kernel[(1,)](partial, out, out, arrived, PROGRAMS, PROGRAMS, 1, way)
    return out


benchmark = Benchmark()
for power in (16, 18, 20, 22, 24, 26, 28):
    x = torch.rand(2**power, device="cuda")
    ways = ["two_launches", "atomic", "last"] + ["lock"] * (power in (20, 24, 28))
    functions = {way: lambda way=way: total(x, way) for way in ways}
    functions |= {"blockwise": lambda: sum(x), "eager": lambda: x.sum()}
    expected = x.double().sum()
    benchmark.case("total", "fwd", str(2**power), x.dtype, x.nbytes, x.numel(), functions, expected)
benchmark.finish()
