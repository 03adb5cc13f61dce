"""The same backward pass, in which the copy engine adds dQ up: a group leaves its tile in shared memory and goes on."""
# needs: sm_90
import sys

import torch

if __name__ == "__main__" and (not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0)):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, warpgroup_mma
# --8<-- [start:imports]
from triton._C.libtriton import ir
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.nvidia.hopper import tma
# --8<-- [end:imports]

from kernels.attention.gluon_backward import launch_finish, launch_prepare
from kernels.attention.launch import strides_of
from snippets.attention_backward.exact import exact, relative_error
from snippets.attention_gluon_backward.groups import HEAD, KEYS, OWN, backward_descriptors, in_tiles, keys_load, store_own


# --8<-- [start:add]
@builtin
def add_by_engine(tensor_desc, coord, src, _semantic=None):
    """Add a tile of shared memory to one in global memory, and do not wait for it."""
    coord = _semantic._convert_to_ir_values(coord, require_i64=False)
    _semantic.builder.create_async_tma_reduce(ir.DESCRIPTOR_REDUCE_KIND.ADD, tensor_desc.handle, coord, src.handle)


@gluon.jit
def add_share(dq_desc, dq_page, dq, row, column):
    """Leave a tile of dQ in shared memory, to be added at a row and a column of memory."""
    tma.store_wait(0)  # the engine has read the tile before
    dq_page.store(dq)
    fence_async_shared()
    add_by_engine(dq_desc, [row, column], dq_page)
# --8<-- [end:add]


# --8<-- [start:kernel]
@gluon.jit
def added_compute(
    g: gl.constexpr, tiles, ds_page, dq_pages, loaded, ds_full, ds_empty, dq_desc, dk_ptr, dv_ptr, place, length,
    scale, out_scale, CAUSAL: gl.constexpr,
):
    # This group of four warps owns 64 keys, and 64 columns of every tile of dQ.
    k_page, v_page, q_ring, dout_ring, limit_ring, delta_ring = tiles
    kv_full, full, empty = loaded
    head, first, begin = place
    square: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, OWN, 16])
    wide: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD, 16])
    left: gl.constexpr = gl.DotOperandLayout(0, wide, 2)
    across: gl.constexpr = gl.SliceLayout(0, square)
    none = gl.zeros([OWN, OWN], gl.float32, square)
    dk, dv = gl.zeros([OWN, HEAD], gl.float32, wide), gl.zeros([OWN, HEAD], gl.float32, wide)
    k, v = k_page.slice(g * OWN, OWN, 0), v_page.slice(g * OWN, OWN, 0)  # [keys, HEAD]
    ds_own, k_columns = ds_page.slice(g * OWN, OWN, 0), k_page.slice(g * OWN, OWN, 1)
    keys = first + g * OWN + gl.arange(0, OWN, gl.SliceLayout(1, square))
    mbarrier.wait(kv_full, 0)
    for i in range(begin, length // OWN):
        step = i - begin
        stage = step % 2
        q, dout = q_ring.index(stage), dout_ring.index(stage)
        mbarrier.wait(full.index(stage), step // 2 & 1)
        limit = limit_ring.index(stage).reshape([OWN]).load(across)
        delta = delta_ring.index(stage).reshape([OWN]).load(across)
        scores = warpgroup_mma(k, q.permute((1, 0)), none, use_acc=False)  # [keys, queries]
        p = gl.exp2(scores * scale - gl.expand_dims(limit, 0))
        if CAUSAL:
            queries = i * OWN + gl.arange(0, OWN, across)
            p = gl.where(gl.expand_dims(queries, 0) >= gl.expand_dims(keys, 1), p, 0.0)
        dv = warpgroup_mma(gl.convert_layout(p.to(gl.bfloat16), left), dout, dv)
        dp = warpgroup_mma(v, dout.permute((1, 0)), none, use_acc=False)
        ds = p * (dp - gl.expand_dims(delta, 0))
        mbarrier.wait(ds_empty, (step + 1) & 1)
        ds_own.store(ds.to(gl.bfloat16))
        fence_async_shared()
        mbarrier.arrive(ds_full)
        dk = warpgroup_mma(ds_own, q, dk)
        mbarrier.arrive(empty.index(stage))
        mbarrier.wait(ds_full, step & 1)  # the other group's half is there, too
        dq = warpgroup_mma(ds_page.permute((1, 0)), k_columns, none, use_acc=False)  # [queries, columns]
        mbarrier.arrive(ds_empty)
        add_share(dq_desc, dq_pages.index(g), dq, head * length + i * OWN, g * OWN)
    tma.store_wait(0)
    store_own(dk_ptr, dk * out_scale, head * length + first + g * OWN)
    store_own(dv_ptr, dv, head * length + first + g * OWN)


@gluon.jit
def added_kernel(
    q_desc, k_desc, v_desc, dout_desc, limit_desc, delta_desc, dq_desc, dk_ptr, dv_ptr, length, scale, out_scale,
    CAUSAL: gl.constexpr,
):
    # This program owns 128 keys of one head.
    k_page = gl.allocate_shared_memory(gl.bfloat16, [KEYS, HEAD], k_desc.layout)
    v_page = gl.allocate_shared_memory(gl.bfloat16, [KEYS, HEAD], v_desc.layout)
    q_ring = gl.allocate_shared_memory(gl.bfloat16, [2, OWN, HEAD], q_desc.layout)
    dout_ring = gl.allocate_shared_memory(gl.bfloat16, [2, OWN, HEAD], dout_desc.layout)
    limit_ring = gl.allocate_shared_memory(gl.float32, [2, 1, OWN], limit_desc.layout)
    delta_ring = gl.allocate_shared_memory(gl.float32, [2, 1, OWN], delta_desc.layout)
    ds_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([KEYS, OWN], gl.bfloat16)
    ds_page = gl.allocate_shared_memory(gl.bfloat16, [KEYS, OWN], ds_layout)
    dq_pages = gl.allocate_shared_memory(gl.float32, [2, OWN, OWN], dq_desc.layout)
    kv_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    ds_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    ds_empty = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(kv_full, count=1)
    mbarrier.init(ds_full, count=2)  # of both groups
    mbarrier.init(ds_empty, count=2)
    for stage in gl.static_range(2):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(empty.index(stage), count=2)
    n_tiles = length // KEYS
    head, first = gl.program_id(0) // n_tiles, gl.program_id(0) % n_tiles * KEYS
    place = (head, first, first // OWN if CAUSAL else 0)
    descriptors = (q_desc, k_desc, v_desc, dout_desc, limit_desc, delta_desc)
    tiles, loaded = (k_page, v_page, q_ring, dout_ring, limit_ring, delta_ring), (kv_full, full, empty)
    gl.warp_specialize(
        [
            (
                added_compute,
                (
                    0, tiles, ds_page, dq_pages, loaded, ds_full, ds_empty, dq_desc, dk_ptr, dv_ptr, place, length,
                    scale, out_scale, CAUSAL,
                ),
            ),
            (
                added_compute,
                (
                    1, tiles, ds_page, dq_pages, loaded, ds_full, ds_empty, dq_desc, dk_ptr, dv_ptr, place, length,
                    scale, out_scale, CAUSAL,
                ),
            ),
            (keys_load, (descriptors, tiles, loaded, place, length)),
        ],
        [4, 1],
        [240, 24],
    )
# --8<-- [end:kernel]


# --8<-- [start:launch]
def added_backward(q, k, v, out, lse, dout, is_causal=False):
    dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
    limit, delta, dq_sum = launch_prepare(out, lse, dout, None, strides_of)
    descriptors, scale = backward_descriptors(q, k, v, dout, limit, delta), 128**-0.5
    descriptors.append(in_tiles(dq_sum.view(-1, 128), 64, 64))  # half the columns of 64 queries
    added_kernel[(q.numel() // 128 // 128,)](
        *descriptors, dk, dv, q.shape[2], scale * 1.4426950408889634, scale, CAUSAL=is_causal, num_warps=4, maxnreg=168
    )
    launch_finish(dq_sum, dq, scale, strides_of)
    return dq, dk, dv
# --8<-- [end:launch]


if __name__ == "__main__":
    for is_causal in (False, True):
        q, k, v, dout = torch.randn(4, 2, 3, 640, 128, device="cuda").bfloat16()
        out, lse, *right = exact(q, k, v, dout, is_causal)
        found = added_backward(q, k, v, out.bfloat16(), lse.float(), dout, is_causal)
        assert max(map(relative_error, found, right)) < 1.6e-2
    print("all three gradients agree with float64, causal and not")
    #> all three gradients agree with float64, causal and not
