"""Attention, backward, in one kernel in Gluon: a warp loads, two groups own 64 keys each, and atomics add dQ up."""
# needs: sm_90
import sys

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__" and (not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0)):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

# --8<-- [start:imports]
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, warpgroup_mma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.common.tile_copies import load_tile
from kernels.attention.gluon_backward import launch_finish, launch_prepare
from kernels.attention.launch import strides_of
# --8<-- [end:imports]

from snippets.attention_backward.exact import exact, relative_error

# --8<-- [start:sizes]
HEAD = gl.constexpr(128)
KEYS = gl.constexpr(128)  # of a program
OWN = gl.constexpr(64)  # keys of a group; it also has so many columns of dQ, and meets so many queries at a time
# --8<-- [end:sizes]


# --8<-- [start:load]
@gluon.jit
def keys_load(descriptors, tiles, loaded, place, length):
    # This warp loads the program's keys and values, then tile after tile of queries.
    q_desc, k_desc, v_desc, dout_desc, limit_desc, delta_desc = descriptors
    k_page, v_page, q_ring, dout_ring, limit_ring, delta_ring = tiles
    kv_full, full, empty = loaded
    head, first, begin = place
    row = head * length
    mbarrier.expect(kv_full, k_desc.block_type.nbytes + v_desc.block_type.nbytes)
    load_tile(k_desc, [row + first, 0], kv_full, k_page)
    load_tile(v_desc, [row + first, 0], kv_full, v_page)
    for i in range(begin, length // OWN):
        step, start = i - begin, i * OWN
        stage, parity = step % 2, (step // 2 + 1) & 1
        mbarrier.wait(empty.index(stage), parity)  # the first round passes at once
        mbarrier.expect(full.index(stage), 2 * q_desc.block_type.nbytes + 2 * limit_desc.block_type.nbytes)
        load_tile(q_desc, [row + start, 0], full.index(stage), q_ring.index(stage))
        load_tile(dout_desc, [row + start, 0], full.index(stage), dout_ring.index(stage))
        load_tile(limit_desc, [head, start], full.index(stage), limit_ring.index(stage))
        load_tile(delta_desc, [head, start], full.index(stage), delta_ring.index(stage))


@gluon.jit
def store_own(ptr, x, first_row):
    """Store 64 rows, rounded."""
    rows = (first_row + gl.arange(0, OWN, gl.SliceLayout(1, x.type.layout))).to(gl.int64) * HEAD
    columns = gl.arange(0, HEAD, gl.SliceLayout(0, x.type.layout))
    gl.store(ptr + gl.expand_dims(rows, 1) + gl.expand_dims(columns, 0), x.to(gl.bfloat16))
# --8<-- [end:load]


# --8<-- [start:compute]
@gluon.jit
def groups_compute(
    g: gl.constexpr, tiles, ds_page, loaded, ds_full, ds_empty, dq_ptr, dk_ptr, dv_ptr, place, length, scale, out_scale,
    CAUSAL: gl.constexpr,
):
    # This group of four warps owns 64 keys, and 64 columns of every tile of dQ.
    k_page, v_page, q_ring, dout_ring, limit_ring, delta_ring = tiles
    kv_full, full, empty = loaded
    head, first, begin = place
    square: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, OWN, 16])
    wide: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD, 16])
    left: gl.constexpr = gl.DotOperandLayout(0, wide, 2)
    across: gl.constexpr = gl.SliceLayout(0, square)
    down: gl.constexpr = gl.SliceLayout(1, square)
    none = gl.zeros([OWN, OWN], gl.float32, square)
    dk, dv = gl.zeros([OWN, HEAD], gl.float32, wide), gl.zeros([OWN, HEAD], gl.float32, wide)
    k, v = k_page.slice(g * OWN, OWN, 0), v_page.slice(g * OWN, OWN, 0)  # [keys, HEAD]
    ds_own, k_columns = ds_page.slice(g * OWN, OWN, 0), k_page.slice(g * OWN, OWN, 1)
    keys = first + g * OWN + gl.arange(0, OWN, down)
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
        rows = (head * length + i * OWN + gl.arange(0, OWN, down)).to(gl.int64) * HEAD
        columns = g * OWN + gl.arange(0, OWN, across)
        gl.atomic_add(dq_ptr + gl.expand_dims(rows, 1) + gl.expand_dims(columns, 0), dq, sem="relaxed")
    store_own(dk_ptr, dk * out_scale, head * length + first + g * OWN)
    store_own(dv_ptr, dv, head * length + first + g * OWN)
# --8<-- [end:compute]


# --8<-- [start:kernel]
@gluon.jit
def groups_kernel(
    q_desc, k_desc, v_desc, dout_desc, limit_desc, delta_desc, dq_ptr, dk_ptr, dv_ptr, length, scale, out_scale,
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
    place = (head, first, first // OWN if CAUSAL else 0)  # no query before the first key sees one of these
    descriptors = (q_desc, k_desc, v_desc, dout_desc, limit_desc, delta_desc)
    tiles, loaded = (k_page, v_page, q_ring, dout_ring, limit_ring, delta_ring), (kv_full, full, empty)
    gl.warp_specialize(
        [
            (
                groups_compute,
                (
                    0, tiles, ds_page, loaded, ds_full, ds_empty, dq_ptr, dk_ptr, dv_ptr, place, length, scale, out_scale,
                    CAUSAL,
                ),
            ),
            (
                groups_compute,
                (
                    1, tiles, ds_page, loaded, ds_full, ds_empty, dq_ptr, dk_ptr, dv_ptr, place, length, scale, out_scale,
                    CAUSAL,
                ),
            ),
            (keys_load, (descriptors, tiles, loaded, place, length)),
        ],
        [4, 1],
        [240, 24],
    )
# --8<-- [end:kernel]


# --8<-- [start:launch]
def in_tiles(x, rows, columns):
    """A matrix as the copy engine sees it: in tiles of so many rows and columns."""
    dtype = gl.bfloat16 if x.dtype == torch.bfloat16 else gl.float32
    layout = gl.NVMMASharedLayout.get_default_for([rows, columns], dtype)
    if rows == 1:
        layout = gl.NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=32, rank=2)
    return GluonDescriptor(x, list(x.shape), list(x.stride()), [rows, columns], layout)


def backward_descriptors(q, k, v, dout, limit, delta):
    heads, length, width = q.shape[0] * q.shape[1], q.shape[2], q.shape[3]
    if length % 128 or width != 128 or not all(x.is_contiguous() and x.dtype == torch.bfloat16 for x in (q, k, v, dout)):
        raise ValueError(f"contiguous tensors of bfloat16, heads of 128, and lengths in tiles of 128, not {list(q.shape)}")
    matrices = [in_tiles(x.view(-1, 128), rows, 128) for x, rows in zip((q, k, v, dout), (64, 128, 128, 64), strict=True)]
    return matrices + [in_tiles(x.view(heads, length), 1, 64) for x in (limit, delta)]


def groups_backward(q, k, v, out, lse, dout, is_causal=False):
    dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
    limit, delta, dq_sum = launch_prepare(out, lse, dout, None, strides_of)  # dq_sum: zeros, in float32
    scale = 128**-0.5
    groups_kernel[(q.numel() // 128 // 128,)](
        *backward_descriptors(q, k, v, dout, limit, delta), dq_sum, dk, dv, q.shape[2], scale * 1.4426950408889634, scale,
        CAUSAL=is_causal, num_warps=4, maxnreg=168,
    )
    launch_finish(dq_sum, dq, scale, strides_of)  # scaled and rounded
    return dq, dk, dv
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:check]
    for is_causal in (False, True):
        q, k, v, dout = torch.randn(4, 2, 3, 640, 128, device="cuda").bfloat16()
        out, lse, *right = exact(q, k, v, dout, is_causal)
        found = groups_backward(q, k, v, out.bfloat16(), lse.float(), dout, is_causal)
        assert max(map(relative_error, found, right)) < 1.6e-2
    print("all three gradients agree with float64, causal and not")
    #> all three gradients agree with float64, causal and not
    # --8<-- [end:check]
