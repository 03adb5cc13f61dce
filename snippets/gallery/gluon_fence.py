"""Gluon: a page is written and sent off without the fence that shows it to the tensor memory accelerator."""
# needs: sm_90
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a Hopper GPU that PyTorch can use)")
    sys.exit(2)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from kernels.tools.gallery import empty, show


store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global  # Triton 3.9 has another name


# --8<-- [start:wrong]
@gluon.jit
def out_wrong_kernel(x_ptr, y_desc, stride, SIDE: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    rows = gl.program_id(0) * SIDE + gl.arange(0, SIDE, gl.SliceLayout(1, layout))
    columns = gl.arange(0, SIDE, gl.SliceLayout(0, layout))
    page = gl.allocate_shared_memory(gl.float32, [SIDE, SIDE], y_desc.layout)
    page.store(gl.load(x_ptr + rows[:, None] * stride + columns[None, :]))  # the mistake
    store_tile(y_desc, [gl.program_id(0) * SIDE, 0], page)
    tma.store_wait(0)
# --8<-- [end:wrong]


@gluon.jit
def out_right_kernel(x_ptr, y_desc, stride, SIDE: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    rows = gl.program_id(0) * SIDE + gl.arange(0, SIDE, gl.SliceLayout(1, layout))
    columns = gl.arange(0, SIDE, gl.SliceLayout(0, layout))
    page = gl.allocate_shared_memory(gl.float32, [SIDE, SIDE], y_desc.layout)
    page.store(gl.load(x_ptr + rows[:, None] * stride + columns[None, :]))
    fence_async_shared()
    store_tile(y_desc, [gl.program_id(0) * SIDE, 0], page)
    tma.store_wait(0)


def run(kernel, x):
    y = empty(*x.shape)
    described = TensorDescriptor.from_tensor(y, [32, 32], gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32))
    kernel[(x.shape[0] // 32,)](x, described, x.stride(0), SIDE=32, num_warps=4)
    return y


show(run, out_wrong_kernel, out_right_kernel, lambda n: [torch.randn(n)], lambda x: x, own=(32, 32), odd=(9600, 32))
