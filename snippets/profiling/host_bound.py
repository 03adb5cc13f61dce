"""A loop that asks after every step whether it is done, and one that asks after every sixteenth."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch
import triton
import triton.language as tl

from kernels.tools.benchmark import keep
from kernels.tools.roofline.measured import whole_call


# --8<-- [start:kernel]
@triton.jit
def decay_step_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, 0.9 * x, mask=offsets < n)
# --8<-- [end:kernel]


# --8<-- [start:ways]
x = torch.empty(2**20, device="cuda")


def until_small(every):
    x.fill_(1.0)
    for step in range(1, 1000):
        decay_step_kernel[(triton.cdiv(x.numel(), 1024),)](x, x.numel(), BLOCK=1024)
        if step % every == 0 and x.max().item() < 1e-3:  # .item() waits for the GPU
            return step
# --8<-- [end:ways]


kept = {}
for name, every in (("slow", 1), ("mended", 16)):
    steps = until_small(every)
    row = whole_call(lambda every=every: until_small(every))
    kept[name] = row | {"steps": steps, "asked": steps // every}
    print(f"{name:8}{steps:4} steps, asked {steps // every:3} times: {row['wall_us']:8.1f} us by the clock", end="")
    print(f"{row['gpu_us']:8.1f} us of the GPU, {row['idle']:4.0%} idle")
    assert x.max().item() < 1e-3
keep(figures=kept)
