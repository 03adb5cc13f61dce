"""Gluon: the tensor memory accelerator copies, and nobody waits at the barrier that says it is done."""
# needs: sm_90
import sys

import torch

if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("needs: sm_90 (a Hopper GPU that PyTorch can use)")
    sys.exit(2)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from kernels.tools.gallery import empty, show


load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared  # Triton 3.9 has another name


# --8<-- [start:wrong]
@gluon.jit
def tile_wrong_kernel(x_desc, y_ptr, SIDE: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    page = gl.allocate_shared_memory(gl.float32, [SIDE, SIDE], x_desc.layout)
    arrived = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived, count=1)
    row = gl.program_id(0) * SIDE
    mbarrier.expect(arrived, x_desc.block_type.nbytes)
    load_tile(x_desc, [row, 0], arrived, page)
    x = page.load(layout)  # the mistake
    rows, columns = gl.arange(0, SIDE, gl.SliceLayout(1, layout)), gl.arange(0, SIDE, gl.SliceLayout(0, layout))
    gl.store(y_ptr + (row + rows[:, None]) * SIDE + columns[None, :], x)
# --8<-- [end:wrong]


@gluon.jit
def tile_right_kernel(x_desc, y_ptr, SIDE: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    page = gl.allocate_shared_memory(gl.float32, [SIDE, SIDE], x_desc.layout)
    arrived = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived, count=1)
    row = gl.program_id(0) * SIDE
    mbarrier.expect(arrived, x_desc.block_type.nbytes)
    load_tile(x_desc, [row, 0], arrived, page)
    mbarrier.wait(arrived, 0)
    x = page.load(layout)
    rows, columns = gl.arange(0, SIDE, gl.SliceLayout(1, layout)), gl.arange(0, SIDE, gl.SliceLayout(0, layout))
    gl.store(y_ptr + (row + rows[:, None]) * SIDE + columns[None, :], x)


def run(kernel, x):
    y = empty(*x.shape)
    described = TensorDescriptor.from_tensor(x, [32, 32], gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32))
    kernel[(x.shape[0] // 32,)](described, y, SIDE=32, num_warps=4)
    return y


show(run, tile_wrong_kernel, tile_right_kernel, lambda n: [torch.randn(n)], lambda x: x, own=(32, 32), odd=(9600, 32))
