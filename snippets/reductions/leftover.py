"""Forgotten: a counter of arrivals that nobody sets back to zero."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:leftover]
@triton.jit
def forgetful_kernel(x_ptr, out_ptr, partial_ptr, arrived_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid * BLOCK + tl.arange(0, BLOCK))
    tl.store(partial_ptr + pid, tl.sum(x, axis=0))
    if tl.atomic_add(arrived_ptr, 1) == tl.num_programs(0) - 1:
        tl.store(out_ptr, tl.sum(tl.load(partial_ptr + tl.arange(0, 4)), axis=0))


device = "cuda" if torch.cuda.is_available() else "cpu"
x, partial = torch.ones(1024, device=device), torch.empty(4, device=device)
arrived = torch.zeros((), dtype=torch.int32, device=device)
for launch in ("first", "second"):
    out = torch.full((), float("nan"), device=device)
    forgetful_kernel[(4,)](x, out, partial, arrived, BLOCK=256)
    print(f"{launch} launch: {out.item()}, counter at {arrived.item()}")
    #> first launch: 1024.0, counter at 4
    #> second launch: nan, counter at 8
# --8<-- [end:leftover]
