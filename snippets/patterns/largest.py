"""Atomics: the largest number of an array, in any order."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def largest_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    largest = tl.full([BLOCK], -float("inf"), dtype=tl.float32)
    for start in range(pid * BLOCK, n_elements, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=-float("inf"))
        largest = tl.maximum(largest, x.to(tl.float32))
    tl.atomic_max(out_ptr, tl.max(largest, axis=0))


def largest(x, programs=1024):
    out = torch.full((), -float("inf"), device=x.device)
    largest_kernel[(programs,)](x, out, x.numel(), BLOCK=2048)
    return out
# --8<-- [end:kernel]


# --8<-- [start:use]
device = "cuda" if torch.cuda.is_available() else "cpu"
for x in (torch.randn(70_000, device=device), -1 - torch.rand(5000, device=device)):
    assert torch.equal(largest(x, programs=16), x.max())
print("largest agrees with PyTorch")
#> largest agrees with PyTorch
# --8<-- [end:use]
