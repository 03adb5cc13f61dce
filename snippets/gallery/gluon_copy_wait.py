"""Gluon: shared memory is read before the copy that fills it has arrived."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy

from kernels.tools.gallery import empty, show


load_block = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared  # Triton 3.9 has another name


# --8<-- [start:wrong]
@gluon.jit
def copied_wrong_kernel(x_ptr, y_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    turned: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])  # other threads read than those that copied
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    page = gl.allocate_shared_memory(gl.float32, [BLOCK], flat)
    start = gl.program_id(0) * BLOCK
    load_block(page, x_ptr + start + gl.arange(0, BLOCK, layout))
    async_copy.commit_group()
    async_copy.wait_group(1)  # the mistake
    gl.store(y_ptr + start + gl.arange(0, BLOCK, turned), page.load(turned))
# --8<-- [end:wrong]


@gluon.jit
def copied_right_kernel(x_ptr, y_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    turned: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])  # other threads read than those that copied
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    page = gl.allocate_shared_memory(gl.float32, [BLOCK], flat)
    start = gl.program_id(0) * BLOCK
    load_block(page, x_ptr + start + gl.arange(0, BLOCK, layout))
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(y_ptr + start + gl.arange(0, BLOCK, turned), page.load(turned))


def run(kernel, x):
    y = empty(x.numel())
    kernel[(x.numel() // 1024,)](x, y, BLOCK=1024, num_warps=4)
    return y


show(run, copied_wrong_kernel, copied_right_kernel, lambda n: [torch.randn(n)], lambda x: x, own=1024, odd=2**20)
