"""The last program adds up what the others store, in the same launch: nothing makes it wait for them."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.gallery import empty, show


# --8<-- [start:wrong]
@triton.jit
def total_kernel(x_ptr, parts_ptr, y_ptr, n_elements, FINISH: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts_ptr + pid, tl.sum(tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0), axis=0))
    if FINISH and pid == tl.num_programs(0) - 1:
        tl.store(y_ptr, tl.sum(tl.load(parts_ptr + tl.arange(0, 64)), axis=0))


def total_wrong(x, parts, y):
    total_kernel[(64,)](x, parts, y, x.numel(), FINISH=True, BLOCK=1024)  # the mistake
# --8<-- [end:wrong]


def total_right(x, parts, y):
    total_kernel[(64,)](x, parts, y, x.numel(), FINISH=False, BLOCK=1024)
    total_kernel[(1,)](parts, y, y, 64, FINISH=False, BLOCK=64)


def run(launch, x):
    y, parts = empty(1), empty(64).zero_()
    launch(x, parts, y)
    return y


show(run, total_wrong, total_right, lambda n: [torch.rand(n)], lambda x: x.sum().view(1), own=2**16, odd=65_000)
