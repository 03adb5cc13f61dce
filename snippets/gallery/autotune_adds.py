"""Autotuning a kernel that adds to its output: every trial adds once more."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.gallery import empty, show


# --8<-- [start:wrong]
def add_up_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    tl.atomic_add(y_ptr, tl.sum(x, axis=0))


configs = [triton.Config({"BLOCK": block}) for block in (256, 512)]
added_wrong = triton.autotune(configs, key=["n_elements"])(triton.jit(add_up_kernel))  # the mistake
# --8<-- [end:wrong]


added_right = triton.autotune(configs, key=["n_elements"], reset_to_zero=["y_ptr"])(triton.jit(add_up_kernel))


def run(tuned, x):
    y = empty(1).zero_()
    tuned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y


# Whole numbers, whose sum is exact in whatever order they come.
show(run, added_wrong, added_right, lambda n: [torch.randint(0, 9, (n,)).float()], lambda x: x.sum().view(1), own=1024, odd=1000)
