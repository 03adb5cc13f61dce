"""Attention, backward, on Hopper GPUs, in Gluon: one warp loads, two groups of four warps own 64 keys each; dQ is added up in memory by the copy engine."""

import torch
from triton._C.libtriton import ir
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.attention.tiles import attention_limits, attention_open, attention_range

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
ROWS = gl.constexpr(64)  # keys of a group
GROUPS = gl.constexpr(2)


@builtin
def add_tile(tensor_desc, coord, src, _semantic=None):
    """Add a tile of shared memory to one in global memory, by the copy engine."""
    coord = _semantic._convert_to_ir_values(coord, require_i64=False)
    _semantic.builder.create_async_tma_reduce(ir.DESCRIPTOR_REDUCE_KIND.ADD, tensor_desc.handle, coord, src.handle)


@gluon.jit
def bwd_place(sizes):
    n_outer, n_heads, group, q_length, k_length, low, high = sizes
    n_tiles = gl.cdiv(k_length, GROUPS * ROWS)
    pid = gl.program_id(0)
    tile = pid // n_outer
    outer = pid % n_outer  # of the heads of keys
    k_heads = n_heads // group
    return outer // k_heads, outer % k_heads, tile * (GROUPS * ROWS)


@gluon.jit
def bwd_walk(first, sizes, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr, BLOCK_M: gl.constexpr):
    n_outer, n_heads, group, q_length, k_length, low, high = sizes
    last = gl.minimum(first + GROUPS * ROWS, k_length) - 1
    # seen from a key, queries lie from -high to -low
    return attention_range(first, last, q_length, -high, -low, HAS_RIGHT, HAS_LEFT, BLOCK_M)


@gluon.jit
def bwd_load(
    descs, smem, bars, sizes, BLOCK_M: gl.constexpr, STAGES: gl.constexpr, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr
):
    q_desc, k_desc, v_desc, dout_desc, dq_desc, limit_desc, delta_desc = descs
    k_page, v_page, q_ring, dout_ring, ds_page, dq_pages, limit_ring, delta_ring = smem
    kv_full, q_full, q_empty, dout_full, dout_empty, ds_full, ds_empty = bars
    n_outer, n_heads, group, q_length, k_length, low, high = sizes
    batch, k_head, first = bwd_place(sizes)
    begin, _, _, end = bwd_walk(first, sizes, HAS_LEFT, HAS_RIGHT, BLOCK_M)
    mbarrier.expect(kv_full, k_desc.block_type.nbytes + v_desc.block_type.nbytes)
    load_tile(k_desc, [batch, k_head, first, 0], kv_full, k_page)
    load_tile(v_desc, [batch, k_head, first, 0], kv_full, v_page)
    step = 0
    for shared in range(0, group):
        head = k_head * group + shared
        for tile in range(begin, end):
            stage, parity = step % STAGES, (step // STAGES + 1) & 1
            mbarrier.wait(q_empty.index(stage), parity)
            mbarrier.expect(q_full.index(stage), q_desc.block_type.nbytes + limit_desc.block_type.nbytes)
            load_tile(limit_desc, [batch, head, tile * BLOCK_M], q_full.index(stage), limit_ring.index(stage))
            load_tile(q_desc, [batch, head, tile * BLOCK_M, 0], q_full.index(stage), q_ring.index(stage))
            mbarrier.wait(dout_empty.index(stage), parity)
            mbarrier.expect(dout_full.index(stage), dout_desc.block_type.nbytes + delta_desc.block_type.nbytes)
            load_tile(delta_desc, [batch, head, tile * BLOCK_M], dout_full.index(stage), delta_ring.index(stage))
            load_tile(dout_desc, [batch, head, tile * BLOCK_M, 0], dout_full.index(stage), dout_ring.index(stage))
            step += 1


@gluon.jit
def bwd_compute(
    g: gl.constexpr, descs, smem, bars, sizes, pointers, scale, out_scale, BLOCK_M: gl.constexpr, STAGES: gl.constexpr,
    HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
):
    q_desc, k_desc, v_desc, dout_desc, dq_desc, limit_desc, delta_desc = descs
    k_page, v_page, q_ring, dout_ring, ds_page, dq_pages, limit_ring, delta_ring = smem
    kv_full, q_full, q_empty, dout_full, dout_empty, ds_full, ds_empty = bars
    n_outer, n_heads, group, q_length, k_length, low, high = sizes
    dk_ptr, dv_ptr = pointers
    WIDTH: gl.constexpr = q_desc.block_type.shape[3]
    HALF: gl.constexpr = WIDTH // GROUPS
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_M, 16])
    w_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, WIDTH, 16])
    h_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HALF, 16])
    p_layout: gl.constexpr = gl.DotOperandLayout(0, w_layout, 2)
    dtype: gl.constexpr = q_desc.dtype
    batch, k_head, first = bwd_place(sizes)
    begin, plain_begin, plain_end, end = bwd_walk(first, sizes, HAS_LEFT, HAS_RIGHT, BLOCK_M)
    keys = first + g * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, s_layout))
    none = gl.zeros([ROWS, BLOCK_M], gl.float32, s_layout)
    no_dq = gl.zeros([BLOCK_M, HALF], gl.float32, h_layout)
    dk = gl.zeros([ROWS, WIDTH], gl.float32, w_layout)
    dv = gl.zeros([ROWS, WIDTH], gl.float32, w_layout)
    k_all, v_all = k_page.reshape([GROUPS * ROWS, WIDTH]), v_page.reshape([GROUPS * ROWS, WIDTH])
    k, v = k_all.slice(g * ROWS, ROWS, 0), v_all.slice(g * ROWS, ROWS, 0)
    k_half = k_all.slice(g * HALF, HALF, 1)  # [keys of both groups, HALF]
    dq_page = dq_pages.index(g)
    mbarrier.wait(kv_full, 0)
    step = 0
    for shared in range(0, group):
        head = k_head * group + shared
        for tile in range(begin, end):
            stage, parity = step % STAGES, step // STAGES & 1
            queries = tile * BLOCK_M + gl.arange(0, BLOCK_M, gl.SliceLayout(0, s_layout))
            q, dout = q_ring.index(stage).reshape([BLOCK_M, WIDTH]), dout_ring.index(stage).reshape([BLOCK_M, WIDTH])
            mbarrier.wait(q_full.index(stage), parity)
            scores = warpgroup_mma(k, q.permute((1, 0)), none, use_acc=False, is_async=True)
            mbarrier.wait(dout_full.index(stage), parity)
            dp = warpgroup_mma(v, dout.permute((1, 0)), none, use_acc=False, is_async=True)
            scores = warpgroup_mma_wait(1, (scores,))
            limit = limit_ring.index(stage).reshape([BLOCK_M]).load(gl.SliceLayout(0, s_layout))
            p = gl.exp2(scores * scale - gl.expand_dims(limit, 0))
            if (tile >= plain_end) | (tile < plain_begin) | (first + GROUPS * ROWS > k_length):
                is_open = attention_open(
                    gl.expand_dims(queries, 0), gl.expand_dims(keys, 1), k_length, low, high, HAS_LEFT, HAS_RIGHT
                )
                p = gl.where(is_open & gl.expand_dims(queries < q_length, 0), p, 0.0)
            dp = warpgroup_mma_wait(0, (dp,))
            delta = delta_ring.index(stage).reshape([BLOCK_M]).load(gl.SliceLayout(0, s_layout))
            dv = warpgroup_mma(gl.convert_layout(p.to(dtype), p_layout), dout, dv, is_async=True)
            ds = (p * (dp - gl.expand_dims(delta, 0))).to(dtype)
            mbarrier.wait(ds_empty, (step + 1) & 1)
            ds_page.slice(g * ROWS, ROWS, 0).store(ds)
            fence_async_shared()
            mbarrier.arrive(ds_full)
            dk = warpgroup_mma(ds_page.slice(g * ROWS, ROWS, 0), q, dk, is_async=True)
            mbarrier.wait(ds_full, step & 1)
            dq = warpgroup_mma(ds_page.permute((1, 0)), k_half, no_dq, use_acc=False, is_async=True)
            dv, dk = warpgroup_mma_wait(1, (dv, dk))
            mbarrier.arrive(q_empty.index(stage))
            mbarrier.arrive(dout_empty.index(stage))
            dq = warpgroup_mma_wait(0, (dq,))
            mbarrier.arrive(ds_empty)
            tma.store_wait(0)
            dq_page.reshape([BLOCK_M, HALF]).store(dq * out_scale)
            fence_async_shared()
            add_tile(dq_desc, [batch, head, tile * BLOCK_M, g * HALF], dq_page)
            step += 1
    tma.store_wait(0)
    rows = first + g * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, w_layout))
    columns = gl.arange(0, WIDTH, gl.SliceLayout(0, w_layout))
    row_at = ((batch * (n_heads // group) + k_head).to(gl.int64) * k_length + rows) * WIDTH
    place = gl.expand_dims(row_at, 1) + gl.expand_dims(columns, 0)
    mask = gl.expand_dims(rows < k_length, 1)
    gl.store(dk_ptr + place, (dk * out_scale).to(dtype), mask=mask)
    gl.store(dv_ptr + place, dv.to(dtype), mask=mask)


@gluon.jit
def attention_gluon_backward_kernel(
    q_desc, k_desc, v_desc, dout_desc, dq_desc, limit_desc, delta_desc, dk_ptr, dv_ptr, n_outer, n_heads, group, q_length, k_length,
    left, right, scale, out_scale, BLOCK_M: gl.constexpr, STAGES: gl.constexpr, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
    LOWER_RIGHT: gl.constexpr, REGISTERS: gl.constexpr,
):
    WIDTH: gl.constexpr = q_desc.block_type.shape[3]
    k_page = gl.allocate_shared_memory(k_desc.dtype, k_desc.block_type.shape, k_desc.layout)
    v_page = gl.allocate_shared_memory(v_desc.dtype, v_desc.block_type.shape, v_desc.layout)
    q_ring = gl.allocate_shared_memory(q_desc.dtype, [STAGES] + q_desc.block_type.shape, q_desc.layout)
    dout_ring = gl.allocate_shared_memory(dout_desc.dtype, [STAGES] + dout_desc.block_type.shape, dout_desc.layout)
    ds_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([GROUPS * ROWS, BLOCK_M], gl.bfloat16)
    ds_page = gl.allocate_shared_memory(q_desc.dtype, [GROUPS * ROWS, BLOCK_M], ds_layout)
    dq_pages = gl.allocate_shared_memory(gl.float32, [GROUPS] + dq_desc.block_type.shape, dq_desc.layout)
    limit_ring = gl.allocate_shared_memory(gl.float32, [STAGES] + limit_desc.block_type.shape, limit_desc.layout)
    delta_ring = gl.allocate_shared_memory(gl.float32, [STAGES] + limit_desc.block_type.shape, limit_desc.layout)
    kv_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    ds_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    ds_empty = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    q_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    q_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    dout_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    dout_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    mbarrier.init(kv_full, count=1)
    mbarrier.init(ds_full, count=GROUPS)
    mbarrier.init(ds_empty, count=GROUPS)
    for stage in gl.static_range(STAGES):
        mbarrier.init(q_full.index(stage), count=1)
        mbarrier.init(dout_full.index(stage), count=1)
        mbarrier.init(q_empty.index(stage), count=GROUPS)
        mbarrier.init(dout_empty.index(stage), count=GROUPS)
    low, high = attention_limits(left, right, q_length, k_length, LOWER_RIGHT)
    descs = (q_desc, k_desc, v_desc, dout_desc, dq_desc, limit_desc, delta_desc)
    smem = (k_page, v_page, q_ring, dout_ring, ds_page, dq_pages, limit_ring, delta_ring)
    bars = (kv_full, q_full, q_empty, dout_full, dout_empty, ds_full, ds_empty)
    sizes, pointers = (n_outer, n_heads, group, q_length, k_length, low, high), (dk_ptr, dv_ptr)
    gl.warp_specialize(
        [
            (bwd_compute, (0, descs, smem, bars, sizes, pointers, scale, out_scale, BLOCK_M, STAGES, HAS_LEFT, HAS_RIGHT)),
            (bwd_compute, (1, descs, smem, bars, sizes, pointers, scale, out_scale, BLOCK_M, STAGES, HAS_LEFT, HAS_RIGHT)),
            (bwd_load, (descs, smem, bars, sizes, BLOCK_M, STAGES, HAS_LEFT, HAS_RIGHT)),
        ],
        [4, 1],
        [REGISTERS, 24],
    )


def described(x, rows, width, like=gl.bfloat16):
    block = [1, 1, rows, width]
    layout = gl.NVMMASharedLayout.get_default_for(block, like)
    return GluonDescriptor(x, list(x.shape), list(x.stride()), block, layout)


def launch(q, k, v, dout, limit, delta, dq, dk, dv, is_causal=False, scale=None, block_m=64, stages=2, run=None):
    """dq in float32 and zero; dk and dv contiguous; limit in powers of two."""
    (b, h, l, d), (_, kh, s, _) = q.shape, k.shape
    factor = d**-0.5 if scale is None else scale
    descs = [described(q, block_m, d), described(k, 128, d), described(v, 128, d), described(dout, block_m, d)]
    descs.append(described(dq, block_m, d // 2, gl.float32))
    rows = gl.NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=32, rank=3)
    descs += [GluonDescriptor(x, list(x.shape), list(x.stride()), [1, 1, block_m], rows) for x in (limit, delta)]
    options = dict(BLOCK_M=block_m, STAGES=stages, HAS_LEFT=False, HAS_RIGHT=is_causal, LOWER_RIGHT=False, REGISTERS=240, num_warps=4, maxnreg=168)
    kernel = run or attention_gluon_backward_kernel[(b * kh * -(-s // 128),)]
    return kernel(*descs, dk, dv, b * kh, h, h // kh, l, s, -1, 0 if is_causal else -1, factor * 1.4426950408889634, factor, **options)
