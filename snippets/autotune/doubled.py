"""A kernel that changes its input, tuned: every trial changes it too, unless the tuner is told what to put back."""
import os
import time

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


def wall_clock(call, quantiles):
    start = time.perf_counter()
    call()
    return [time.perf_counter() - start] * len(quantiles)


clock = None if torch.cuda.is_available() else wall_clock


# --8<-- [start:doubled]
@triton.jit
def redouble_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2)


blocks = [triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})]
for cure in ({}, {"restore_value": ["x_ptr"]}):
    tuned = triton.autotune(blocks, key=[], do_bench=clock, **cure)(redouble_kernel)
    x = torch.ones(64, device=device)
    tuned[lambda meta: (64 // meta["BLOCK"],)](x)
    print(f"{cure}: one, doubled, is two: {x[0].item() == 2}")
    #> {}: one, doubled, is two: False
    #> {'restore_value': ['x_ptr']}: one, doubled, is two: True
# --8<-- [end:doubled]
