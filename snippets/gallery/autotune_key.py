"""Autotuning that does not know of a size: the block that won for short rows is used for long ones."""
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
def row_square_kernel(x_ptr, y_ptr, N, stride, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < N, other=0.0)
    tl.store(y_ptr + row, tl.sum(x * x, axis=0))


def shortest(configs, named, **rest):
    return [config for config in configs if config.kwargs["BLOCK"] >= (named | rest)["N"]][:1]


configs = [triton.Config({"BLOCK": block}) for block in (128, 256, 512)]
prune = {"early_config_prune": shortest}
tuned_wrong = triton.autotune(configs, key=[], prune_configs_by=prune)(triton.jit(row_square_kernel))  # the mistake
# --8<-- [end:wrong]


tuned_right = triton.autotune(configs, key=["N"], prune_configs_by=prune)(triton.jit(row_square_kernel))


def run(tuned, x):
    y = empty(x.shape[0])
    for columns in (100, x.shape[1]):  # short rows first, as a process may meet them
        tuned[(x.shape[0],)](x, y, columns, x.stride(0))
    return y


show(run, tuned_wrong, tuned_right, lambda n: [torch.randn(n)], lambda x: (x * x).sum(1), own=(8, 100), odd=(7, 500))
