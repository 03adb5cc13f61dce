"""Attention, forward, on Hopper GPUs, in Gluon: one warp loads, two or three groups of four warps compute."""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.attention.tiles import attention_limits, attention_open, attention_range

load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global
ROWS = gl.constexpr(64)  # of a group


@gluon.jit
def place(work, sizes, GROUPS: gl.constexpr):
    """Which head a piece of work is of, and its first query; the longest walks come first."""
    n_outer, n_heads, group, q_length, k_length, low, high = sizes
    n_tiles = gl.cdiv(q_length, GROUPS * ROWS)
    tile = n_tiles - 1 - work // n_outer
    outer = work % n_outer
    return outer, outer // n_heads, outer % n_heads, (outer % n_heads) // group, tile * (GROUPS * ROWS)


@gluon.jit
def walk(first, sizes, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr, GROUPS: gl.constexpr, BLOCK_N: gl.constexpr):
    n_outer, n_heads, group, q_length, k_length, low, high = sizes
    last = gl.minimum(first + GROUPS * ROWS, q_length) - 1
    return attention_range(first, last, k_length, low, high, HAS_LEFT, HAS_RIGHT, BLOCK_N)


@gluon.jit
def load_role(
    descs, smem, bars, sizes, GROUPS: gl.constexpr, BLOCK_N: gl.constexpr, STAGES: gl.constexpr,
    HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
):
    q_desc, k_desc, v_desc, out_desc = descs
    q_pages, k_ring, v_ring = smem
    q_full, q_empty, k_full, k_empty, v_full, v_empty, turns = bars
    n_outer, n_heads, group, q_length, k_length, low, high = sizes
    total = n_outer * gl.cdiv(q_length, GROUPS * ROWS)
    step, round = 0, 0
    for work in range(gl.program_id(0), total, gl.num_programs(0)):
        outer, batch, head, k_head, first = place(work, sizes, GROUPS)
        begin, _, _, end = walk(first, sizes, HAS_LEFT, HAS_RIGHT, GROUPS, BLOCK_N)
        for g in gl.static_range(GROUPS):
            mbarrier.wait(q_empty.index(g), (round + 1) & 1)
            mbarrier.expect(q_full.index(g), q_desc.block_type.nbytes)
            load_tile(q_desc, [batch, head, first + g * ROWS, 0], q_full.index(g), q_pages.index(g))
        for i in range(0, end - begin):
            start = (end - 1 - i) * BLOCK_N
            stage, parity = step % STAGES, (step // STAGES + 1) & 1
            mbarrier.wait(k_empty.index(stage), parity)
            mbarrier.expect(k_full.index(stage), k_desc.block_type.nbytes)
            load_tile(k_desc, [batch, k_head, start, 0], k_full.index(stage), k_ring.index(stage))
            mbarrier.wait(v_empty.index(stage), parity)
            mbarrier.expect(v_full.index(stage), v_desc.block_type.nbytes)
            load_tile(v_desc, [batch, k_head, start, 0], v_full.index(stage), v_ring.index(stage))
            step += 1
        round += 1


@gluon.jit
def softmax_step(scores, peak, total, scale, rows, columns, is_masked, sizes, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr):
    n_outer, n_heads, group, q_length, k_length, low, high = sizes
    if is_masked:
        is_open = attention_open(gl.expand_dims(rows, 1), gl.expand_dims(columns, 0), k_length, low, high, HAS_LEFT, HAS_RIGHT)
        scores = gl.where(is_open, scores, -float("inf"))
    new_peak = gl.maximum(peak, gl.max(scores, 1) * scale)
    shift = gl.where(new_peak == -float("inf"), 0.0, new_peak)
    weights = gl.exp2(scores * scale - gl.expand_dims(shift, 1))
    shrink = gl.exp2(peak - shift)
    total = total * shrink + gl.sum(weights, 1)
    return weights, shrink, new_peak, total


@gluon.jit
def compute_role(
    g: gl.constexpr, descs, smem, bars, sizes, lse_ptr, scale, GROUPS: gl.constexpr, BLOCK_N: gl.constexpr,
    STAGES: gl.constexpr, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr, PINGPONG: gl.constexpr,
):
    q_desc, k_desc, v_desc, out_desc = descs
    q_pages, k_ring, v_ring = smem
    q_full, q_empty, k_full, k_empty, v_full, v_empty, turns = bars
    n_outer, n_heads, group, q_length, k_length, low, high = sizes
    WIDTH: gl.constexpr = q_desc.block_type.shape[3]
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    o_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, WIDTH, 16])
    p_layout: gl.constexpr = gl.DotOperandLayout(0, o_layout, 2)
    of_row: gl.constexpr = gl.SliceLayout(1, o_layout)
    none = gl.zeros([ROWS, BLOCK_N], gl.float32, s_layout)
    work_total = n_outer * gl.cdiv(q_length, GROUPS * ROWS)
    step, round, turn = 0, 0, 0
    for work in range(gl.program_id(0), work_total, gl.num_programs(0)):
        outer, batch, head, k_head, first = place(work, sizes, GROUPS)
        begin, plain_begin, plain_end, end = walk(first, sizes, HAS_LEFT, HAS_RIGHT, GROUPS, BLOCK_N)
        rows = first + g * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, s_layout))
        peak = gl.full([ROWS], -float("inf"), gl.float32, gl.SliceLayout(1, s_layout))
        total = gl.zeros([ROWS], gl.float32, gl.SliceLayout(1, s_layout))
        out = gl.zeros([ROWS, WIDTH], gl.float32, o_layout)
        q = q_pages.index(g).reshape([ROWS, WIDTH])
        mbarrier.wait(q_full.index(g), round & 1)
        if end > begin:
            stage = step % STAGES
            mbarrier.wait(k_full.index(stage), step // STAGES & 1)
            k = k_ring.index(stage).reshape([BLOCK_N, WIDTH])
            scores = warpgroup_mma(q, k.permute((1, 0)), none, use_acc=False, is_async=True)
            scores = warpgroup_mma_wait(0, (scores,))
            mbarrier.arrive(k_empty.index(stage))
            columns = (end - 1) * BLOCK_N + gl.arange(0, BLOCK_N, gl.SliceLayout(0, s_layout))
            weights, shrink, peak, total = softmax_step(scores, peak, total, scale, rows, columns, True, sizes, HAS_LEFT, HAS_RIGHT)
            p = gl.convert_layout(weights.to(q_desc.dtype), p_layout)
            for i in range(1, end - begin):
                tile = end - 1 - i
                next_step = step + 1
                stage, before = next_step % STAGES, step % STAGES
                mbarrier.wait(k_full.index(stage), next_step // STAGES & 1)
                if PINGPONG:
                    mbarrier.wait(turns.index(g), (turn + (1 if g == 0 else 0)) & 1)
                k = k_ring.index(stage).reshape([BLOCK_N, WIDTH])
                scores = warpgroup_mma(q, k.permute((1, 0)), none, use_acc=False, is_async=True)
                mbarrier.wait(v_full.index(before), step // STAGES & 1)
                v = v_ring.index(before).reshape([BLOCK_N, WIDTH])
                out = warpgroup_mma(p, v, out, is_async=True)
                if PINGPONG:
                    mbarrier.arrive(turns.index((g + 1) % GROUPS))
                turn += 1
                scores = warpgroup_mma_wait(1, (scores,))
                mbarrier.arrive(k_empty.index(stage))
                columns = tile * BLOCK_N + gl.arange(0, BLOCK_N, gl.SliceLayout(0, s_layout))
                is_masked = (tile >= plain_end) | (tile < plain_begin)
                weights, shrink, peak, total = softmax_step(
                    scores, peak, total, scale, rows, columns, is_masked, sizes, HAS_LEFT, HAS_RIGHT
                )
                out = warpgroup_mma_wait(0, (out,))
                mbarrier.arrive(v_empty.index(before))
                out = out * gl.expand_dims(gl.convert_layout(shrink, of_row), 1)
                p = gl.convert_layout(weights.to(q_desc.dtype), p_layout)
                step = next_step
            before = step % STAGES
            mbarrier.wait(v_full.index(before), step // STAGES & 1)
            v = v_ring.index(before).reshape([BLOCK_N, WIDTH])
            out = warpgroup_mma(p, v, out, is_async=True)
            out = warpgroup_mma_wait(0, (out,))
            mbarrier.arrive(v_empty.index(before))
            step += 1
        total = gl.where(total == 0.0, 1.0, total)
        out = out * gl.expand_dims(gl.convert_layout(1.0 / total, of_row), 1)
        page = q_pages.index(g)
        page.reshape([ROWS, WIDTH]).store(out.to(out_desc.dtype))
        fence_async_shared()
        store_tile(out_desc, [batch, head, first + g * ROWS, 0], page)
        lse = (peak + gl.log2(total)) * 0.6931471805599453
        gl.store(lse_ptr + outer.to(gl.int64) * q_length + rows, lse, mask=rows < q_length)
        tma.store_wait(0)
        mbarrier.arrive(q_empty.index(g))
        round += 1


@gluon.jit
def attention_gluon_kernel(
    q_desc, k_desc, v_desc, out_desc, lse_ptr, n_outer, n_heads, group, q_length, k_length, left, right, scale,
    GROUPS: gl.constexpr, BLOCK_N: gl.constexpr, STAGES: gl.constexpr, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
    LOWER_RIGHT: gl.constexpr, PINGPONG: gl.constexpr, REGISTERS: gl.constexpr,
):
    q_pages = gl.allocate_shared_memory(q_desc.dtype, [GROUPS] + q_desc.block_type.shape, q_desc.layout)
    k_ring = gl.allocate_shared_memory(k_desc.dtype, [STAGES] + k_desc.block_type.shape, k_desc.layout)
    v_ring = gl.allocate_shared_memory(v_desc.dtype, [STAGES] + v_desc.block_type.shape, v_desc.layout)
    q_full = gl.allocate_shared_memory(gl.int64, [GROUPS, 1], mbarrier.MBarrierLayout())
    q_empty = gl.allocate_shared_memory(gl.int64, [GROUPS, 1], mbarrier.MBarrierLayout())
    turns = gl.allocate_shared_memory(gl.int64, [GROUPS, 1], mbarrier.MBarrierLayout())
    k_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    k_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    v_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    v_empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for g in gl.static_range(GROUPS):
        mbarrier.init(q_full.index(g), count=1)
        mbarrier.init(q_empty.index(g), count=1)
        mbarrier.init(turns.index(g), count=1)
    for stage in gl.static_range(STAGES):
        mbarrier.init(k_full.index(stage), count=1)
        mbarrier.init(v_full.index(stage), count=1)
        mbarrier.init(k_empty.index(stage), count=GROUPS)
        mbarrier.init(v_empty.index(stage), count=GROUPS)
    low, high = attention_limits(left, right, q_length, k_length, LOWER_RIGHT)
    descs, smem = (q_desc, k_desc, v_desc, out_desc), (q_pages, k_ring, v_ring)
    bars = (q_full, q_empty, k_full, k_empty, v_full, v_empty, turns)
    sizes = (n_outer, n_heads, group, q_length, k_length, low, high)
    if GROUPS == 2:
        gl.warp_specialize(
            [
                (compute_role, (0, descs, smem, bars, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, PINGPONG)),
                (compute_role, (1, descs, smem, bars, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, PINGPONG)),
                (load_role, (descs, smem, bars, sizes, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT)),
            ],
            [4, 1],
            [REGISTERS, 24],
        )
    else:
        gl.warp_specialize(
            [
                (compute_role, (0, descs, smem, bars, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, PINGPONG)),
                (compute_role, (1, descs, smem, bars, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, PINGPONG)),
                (compute_role, (2, descs, smem, bars, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, PINGPONG)),
                (load_role, (descs, smem, bars, sizes, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT)),
            ],
            [4, 4, 1],
            [REGISTERS, REGISTERS, 24],
        )


def described(x, rows, width):
    block = [1, 1, rows, width]
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.bfloat16)
    return GluonDescriptor(x, list(x.shape), list(x.stride()), block, layout)


def launch(q, k, v, out, lse, is_causal=False, scale=None, groups=2, block_n=128, stages=2, pingpong=True, run=None, programs=132):
    (b, h, l, d), (_, kh, s, _) = q.shape, k.shape
    registers = {2: 240, 3: 160}[groups]
    maxnreg = {2: 168, 3: 128}[groups]
    scale = (d**-0.5 if scale is None else scale) * 1.4426950408889634
    descs = [described(q, 64, d), described(k, block_n, d), described(v, block_n, d), described(out, 64, d)]
    options = dict(GROUPS=groups, BLOCK_N=block_n, STAGES=stages, HAS_LEFT=False, HAS_RIGHT=is_causal, LOWER_RIGHT=False,
                   PINGPONG=pingpong, REGISTERS=registers, num_warps=4, maxnreg=maxnreg)
    kernel = run or attention_gluon_kernel[(min(programs, b * h * -(-l // (64 * groups))),)]
    return kernel(*descs, lse, b * h, h, h // kh, l, s, -1, 0 if is_causal else -1, scale, **options)
