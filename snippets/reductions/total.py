"""The sum of a whole array in three ways: two launches, atomics, and one launch whose last program finishes."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def meet_kernel(
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
# --8<-- [end:kernel]


# --8<-- [start:use]
device = "cuda" if torch.cuda.is_available() else "cpu"
# Every launch leaves the counter at zero.
arrived = torch.zeros((), dtype=torch.int32, device=device)


def total(x, way, programs=512, block=2048):
    out = torch.zeros((), device=device)
    partial = torch.empty(programs, device=device)
    sizes = (x.numel(), block, programs)
    meet_kernel[(programs,)](x, out, partial, arrived, *sizes, way)
    if way == "two launches":
        # One program adds up the partial sums, and what it stores is the result.
        meet_kernel[(1,)](partial, out, out, out, programs, programs, 1, way)
    return out


x = torch.rand(100_000, device=device)
for way in ("two launches", "atomic", "last", "last"):
    torch.testing.assert_close(total(x, way, programs=16), x.sum(), rtol=1e-4, atol=0)
print("three ways, one sum")
#> three ways, one sum
# --8<-- [end:use]
