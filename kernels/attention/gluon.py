"""Attention, forward, on Hopper GPUs, in Gluon: one warp loads, and two or three groups of four warps multiply.

Each group owns 64 queries. While the tensor cores multiply its weights with values, and the next keys with its queries, the
group computes the softmax of the scores it has. The groups take turns at the tensor cores, so that one multiplies while another
takes exponentials. Programs stay on their multiprocessor and take piece after piece of the work, heads whose keys and values fit
into the L2 cache together. In Triton the compiler would have to find this division of labor; in Gluon it is written down.

Source: J. Shah and others, "FlashAttention-3", arXiv:2407.08608.
"""

from typing import Any

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.attention.tiles import attention_limits, attention_open, attention_range
from kernels.common.sizes import cdiv
from kernels.common.tile_copies import load_tile, store_tile

GROUP_ROWS = gl.constexpr(64)  # of a group
# Heads whose keys and values have so many bytes together are walked over at the same time.
CACHED_BYTES = 16 * 2**20


# --8<-- [start:work]
@gluon.jit
def attention_piece(work, n_outer, n_heads, length, together, BLOCK: gl.constexpr, REVERSED: gl.constexpr):
    """Which batch and head a piece of work is of, and its first row. `together` heads come in turns, tile after tile."""
    n_tiles = gl.cdiv(length, BLOCK)
    section = work // (together * n_tiles)
    within = work - section * (together * n_tiles)
    here = gl.minimum(together, n_outer - section * together)
    tile = within // here
    outer = section * together + within - tile * here
    if REVERSED:  # so that those with most to do begin first
        tile = n_tiles - 1 - tile
    return outer // n_heads, outer % n_heads, tile * BLOCK


@gluon.jit
def attention_order(i, n, begin, plain_begin, plain_end, end):
    """The i-th of a walk's n tiles: first those that need a mask, from the right, then the others."""
    right, n_masked = end - plain_end, n - (plain_end - plain_begin)
    masked = gl.where(i < right, end - 1 - i, plain_begin - 1 - (i - right))
    return gl.where(i < n_masked, masked, plain_end - 1 - (i - n_masked))
# --8<-- [end:work]


# --8<-- [start:load]
@gluon.jit
def attention_gluon_load(
    descriptors, pages, barriers, sizes, GROUPS: gl.constexpr, BLOCK_N: gl.constexpr, STAGES: gl.constexpr,
    HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
):
    # This warp fills stage after stage, piece after piece.
    q_desc, k_desc, v_desc, _ = descriptors
    q_pages, k_ring, v_ring = pages
    q_full, q_empty, k_full, k_empty, v_full, v_empty, _ = barriers
    n_outer, n_heads, group, q_length, k_length, low, high, together = sizes
    BLOCK_M: gl.constexpr = GROUPS * GROUP_ROWS
    step, phase = 0, 0
    for work in range(gl.program_id(0), n_outer * gl.cdiv(q_length, BLOCK_M), gl.num_programs(0)):
        batch, head, first = attention_piece(work, n_outer, n_heads, q_length, together, BLOCK_M, HAS_RIGHT)
        last = gl.minimum(first + BLOCK_M, q_length) - 1
        begin, plain_begin, plain_end, end = attention_range(first, last, k_length, low, high, HAS_LEFT, HAS_RIGHT, BLOCK_N)
        for g in gl.static_range(GROUPS):
            mbarrier.wait(q_empty.index(g), 1 - phase)  # the first round passes at once
            mbarrier.expect(q_full.index(g), q_desc.block_type.nbytes)
            load_tile(q_desc, [batch, head, first + g * GROUP_ROWS, 0], q_full.index(g), q_pages.index(g))
        for i in range(end - begin):
            start = attention_order(i, end - begin, begin, plain_begin, plain_end, end) * BLOCK_N
            stage, parity = step % STAGES, (step // STAGES + 1) & 1
            mbarrier.wait(k_empty.index(stage), parity)
            mbarrier.expect(k_full.index(stage), k_desc.block_type.nbytes)
            load_tile(k_desc, [batch, head // group, start, 0], k_full.index(stage), k_ring.index(stage))
            mbarrier.wait(v_empty.index(stage), parity)
            mbarrier.expect(v_full.index(stage), v_desc.block_type.nbytes)
            load_tile(v_desc, [batch, head // group, start, 0], v_full.index(stage), v_ring.index(stage))
            step += 1
        phase = 1 - phase
# --8<-- [end:load]


# --8<-- [start:softmax]
@gluon.jit
def attention_gluon_softmax(scores, peak, total, scale, MASKED: gl.constexpr):
    """Weights of a tile of scores, what the sums before it are to be multiplied by, and the new largest score and sum."""
    new_peak = gl.maximum(peak, gl.max(scores, 1) * scale)
    # A query that has met nothing yet must not compute -inf - -inf, which is NaN.
    shift = gl.where(new_peak == -float("inf"), 0.0, new_peak) if MASKED else new_peak
    weights = gl.exp2(scores * scale - gl.expand_dims(shift, 1))
    shrink = gl.exp2(peak - shift)
    return weights, shrink, new_peak, total * shrink + gl.sum(weights, 1)
# --8<-- [end:softmax]


# --8<-- [start:walk]
@gluon.jit
def attention_gluon_walk(
    i_begin, i_end, walk, g: gl.constexpr, q, p, out, peak, total, step, turn, pages, barriers, sizes, scale, rows,
    BLOCK_N: gl.constexpr, STAGES: gl.constexpr, GROUPS: gl.constexpr, MASKED: gl.constexpr,
    HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr, TURNS: gl.constexpr,
):
    """Tiles `i_begin` to `i_end`. `p` are the weights of the tile before, which are multiplied beside the next scores."""
    _, k_ring, v_ring = pages
    _, _, k_full, k_empty, v_full, v_empty, turns = barriers
    _, _, _, _, k_length, low, high, _ = sizes
    begin, plain_begin, plain_end, end = walk
    WIDTH: gl.constexpr = out.shape[1]
    s_layout: gl.constexpr = rows.type.layout.parent
    out_layout: gl.constexpr = out.type.layout
    p_layout: gl.constexpr = gl.DotOperandLayout(0, out_layout, 2)
    none, rows_down = gl.zeros([GROUP_ROWS, BLOCK_N], gl.float32, s_layout), gl.expand_dims(rows, 1)
    for i in range(i_begin, i_end):
        stage, before, parity = (step + 1) % STAGES, step % STAGES, (step + 1) // STAGES & 1
        mbarrier.wait(k_full.index(stage), parity)
        if TURNS:
            mbarrier.wait(turns.index(g), (turn + (1 if g == 0 else 0)) & 1)
        k = k_ring.index(stage).reshape([BLOCK_N, WIDTH])
        scores = warpgroup_mma(q, k.permute((1, 0)), none, use_acc=False, is_async=True)
        mbarrier.wait(v_full.index(before), step // STAGES & 1)
        out = warpgroup_mma(p, v_ring.index(before).reshape([BLOCK_N, WIDTH]), out, is_async=True)
        if TURNS:
            mbarrier.arrive(turns.index((g + 1) % GROUPS))
        scores = warpgroup_mma_wait(1, (scores,))
        mbarrier.arrive(k_empty.index(stage))
        tile = attention_order(i, end - begin, begin, plain_begin, plain_end, end)
        if MASKED and (tile < plain_begin or tile >= plain_end):
            columns = tile * BLOCK_N + gl.arange(0, BLOCK_N, gl.SliceLayout(0, s_layout))
            is_open = attention_open(rows_down, gl.expand_dims(columns, 0), k_length, low, high, HAS_LEFT, HAS_RIGHT)
            scores = gl.where(is_open, scores, -float("inf"))
        weights, shrink, peak, total = attention_gluon_softmax(scores, peak, total, scale, MASKED)
        out = warpgroup_mma_wait(0, (out,))
        mbarrier.arrive(v_empty.index(before))
        out = out * gl.expand_dims(gl.convert_layout(shrink, gl.SliceLayout(1, out_layout)), 1)
        p = gl.convert_layout(weights.to(p.dtype), p_layout)
        step += 1
        turn += 1
    return p, out, peak, total, step, turn
# --8<-- [end:walk]


# --8<-- [start:compute]
@gluon.jit
def attention_gluon_compute(
    g: gl.constexpr, descriptors, pages, barriers, sizes, lse_ptr, scale, GROUPS: gl.constexpr, BLOCK_N: gl.constexpr,
    STAGES: gl.constexpr, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr, TURNS: gl.constexpr,
):
    # This group of four warps owns 64 queries of every piece.
    q_desc, _, _, out_desc = descriptors
    q_pages, k_ring, v_ring = pages
    q_full, q_empty, k_full, k_empty, v_full, v_empty, _ = barriers
    n_outer, n_heads, group, q_length, k_length, low, high, together = sizes
    WIDTH: gl.constexpr = q_desc.block_type.shape[3]
    BLOCK_M: gl.constexpr = GROUPS * GROUP_ROWS
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    out_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, WIDTH, 16])
    p_layout: gl.constexpr = gl.DotOperandLayout(0, out_layout, 2)
    none = gl.zeros([GROUP_ROWS, BLOCK_N], gl.float32, s_layout)
    step, turn, phase = 0, 0, 0
    for work in range(gl.program_id(0), n_outer * gl.cdiv(q_length, BLOCK_M), gl.num_programs(0)):
        batch, head, first = attention_piece(work, n_outer, n_heads, q_length, together, BLOCK_M, HAS_RIGHT)
        last = gl.minimum(first + BLOCK_M, q_length) - 1
        begin, plain_begin, plain_end, end = attention_range(first, last, k_length, low, high, HAS_LEFT, HAS_RIGHT, BLOCK_N)
        rows = first + g * GROUP_ROWS + gl.arange(0, GROUP_ROWS, gl.SliceLayout(1, s_layout))
        rows_down = gl.expand_dims(rows, 1)
        peak = gl.full([GROUP_ROWS], -float("inf"), gl.float32, gl.SliceLayout(1, s_layout))
        total = gl.zeros([GROUP_ROWS], gl.float32, gl.SliceLayout(1, s_layout))
        out = gl.zeros([GROUP_ROWS, WIDTH], gl.float32, out_layout)
        q = q_pages.index(g).reshape([GROUP_ROWS, WIDTH])
        mbarrier.wait(q_full.index(g), phase)
        if end > begin:
            n, n_masked = end - begin, end - begin - (plain_end - plain_begin)
            stage = step % STAGES
            mbarrier.wait(k_full.index(stage), step // STAGES & 1)
            k = k_ring.index(stage).reshape([BLOCK_N, WIDTH])
            scores = warpgroup_mma(q, k.permute((1, 0)), none, use_acc=False, is_async=True)
            scores = warpgroup_mma_wait(0, (scores,))
            mbarrier.arrive(k_empty.index(stage))
            tile = attention_order(0, n, begin, plain_begin, plain_end, end)
            columns = tile * BLOCK_N + gl.arange(0, BLOCK_N, gl.SliceLayout(0, s_layout))
            is_open = attention_open(rows_down, gl.expand_dims(columns, 0), k_length, low, high, HAS_LEFT, HAS_RIGHT)
            scores = gl.where(is_open, scores, -float("inf"))
            weights, shrink, peak, total = attention_gluon_softmax(scores, peak, total, scale, True)
            p = gl.convert_layout(weights.to(q_desc.dtype), p_layout)
            walk = (begin, plain_begin, plain_end, end)
            # With two groups there are registers for two loops, of which the second asks for no mask.
            p, out, peak, total, step, turn = attention_gluon_walk(
                1, n_masked if GROUPS == 2 else n, walk, g, q, p, out, peak, total, step, turn, pages, barriers, sizes, scale,
                rows, BLOCK_N, STAGES, GROUPS, True, HAS_LEFT, HAS_RIGHT, TURNS,
            )
            if GROUPS == 2:
                p, out, peak, total, step, turn = attention_gluon_walk(
                    gl.maximum(n_masked, 1), n, walk, g, q, p, out, peak, total, step, turn, pages, barriers, sizes, scale,
                    rows, BLOCK_N, STAGES, GROUPS, HAS_LEFT, HAS_LEFT, HAS_RIGHT, TURNS,
                )
            before = step % STAGES
            mbarrier.wait(v_full.index(before), step // STAGES & 1)
            out = warpgroup_mma(p, v_ring.index(before).reshape([BLOCK_N, WIDTH]), out, is_async=True)
            out = warpgroup_mma_wait(0, (out,))
            mbarrier.arrive(v_empty.index(before))
            step += 1
        # A query without keys is left with sums of 0, and an output of 0.
        total = gl.where(total == 0.0, 1.0, total)
        out = out * gl.expand_dims(gl.convert_layout(1.0 / total, gl.SliceLayout(1, out_layout)), 1)
        page = q_pages.index(g)
        page.reshape([GROUP_ROWS, WIDTH]).store(out.to(out_desc.dtype))
        fence_async_shared()
        store_tile(out_desc, [batch, head, first + g * GROUP_ROWS, 0], page)
        lse = (peak + gl.log2(total)) * 0.6931471805599453
        gl.store(lse_ptr + (batch * n_heads + head).to(gl.int64) * q_length + rows, lse, mask=rows < q_length)
        tma.store_wait(0)
        mbarrier.arrive(q_empty.index(g))
        phase = 1 - phase
# --8<-- [end:compute]


# --8<-- [start:kernel]
@gluon.jit(do_not_specialize=["n_outer", "n_heads", "group", "q_length", "k_length", "left", "right", "together"])
def attention_gluon_kernel(
    q_desc, k_desc, v_desc, out_desc, lse_ptr, n_outer, n_heads, group, q_length, k_length, left, right, together, scale,
    GROUPS: gl.constexpr, BLOCK_N: gl.constexpr, STAGES: gl.constexpr, HAS_LEFT: gl.constexpr, HAS_RIGHT: gl.constexpr,
    LOWER_RIGHT: gl.constexpr, TURNS: gl.constexpr, REGISTERS: gl.constexpr,
):
    # This program owns every num_programs-th piece of the work.
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
    descriptors, pages = (q_desc, k_desc, v_desc, out_desc), (q_pages, k_ring, v_ring)
    barriers = (q_full, q_empty, k_full, k_empty, v_full, v_empty, turns)
    sizes = (n_outer, n_heads, group, q_length, k_length, low, high, together)
    # The first group has the launch's warps; of the others it is said how many warps and how many registers a thread they have.
    if GROUPS == 2:
        gl.warp_specialize(
            [
                (
                    attention_gluon_compute,
                    (0, descriptors, pages, barriers, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, TURNS),
                ),
                (
                    attention_gluon_compute,
                    (1, descriptors, pages, barriers, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, TURNS),
                ),
                (
                    attention_gluon_load,
                    (descriptors, pages, barriers, sizes, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT),
                ),
            ],
            [4, 1],
            [REGISTERS, 24],
        )
    else:
        gl.warp_specialize(
            [
                (
                    attention_gluon_compute,
                    (0, descriptors, pages, barriers, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, TURNS),
                ),
                (
                    attention_gluon_compute,
                    (1, descriptors, pages, barriers, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, TURNS),
                ),
                (
                    attention_gluon_compute,
                    (2, descriptors, pages, barriers, sizes, lse_ptr, scale, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT, TURNS),
                ),
                (
                    attention_gluon_load,
                    (descriptors, pages, barriers, sizes, GROUPS, BLOCK_N, STAGES, HAS_LEFT, HAS_RIGHT),
                ),
            ],
            [4, 4, 1],
            [REGISTERS, REGISTERS, 24],
        )
# --8<-- [end:kernel]


# --8<-- [start:launch]
def gluon_described(x: torch.Tensor, strides: tuple[int, ...], rows: int, width: int) -> GluonDescriptor:
    block = [1, 1, rows, width]
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.bfloat16)  # of two bytes, whatever the dtype
    return GluonDescriptor(x, list(x.shape), [*strides, 1], block, layout)


def heads_together(k: torch.Tensor, group: int) -> int:
    """How many heads of queries are walked over at a time, so that the keys and values they meet stay in the L2 cache."""
    bytes_of_a_head = 2 * k.shape[2] * k.shape[3] * k.element_size()
    return group * max(1, CACHED_BYTES // bytes_of_a_head)


def launch_gluon_forward(q, k, v, out, lse, window, mask, scale, tile: dict[str, Any], strides_of) -> None:
    """Launch the kernel; `window` counts keys beside the diagonal, and `scale` is in powers of two."""
    (batches, heads, q_length, width), (_, k_heads, k_length, _) = q.shape, k.shape
    group, n_outer = heads // k_heads, batches * heads
    rows = (64, tile["BLOCK_N"], tile["BLOCK_N"], 64)
    descriptors = [gluon_described(x, strides_of(x), n, width) for x, n in zip((q, k, v, out), rows, strict=True)]
    options = {"HAS_LEFT": mask.left >= 0, "HAS_RIGHT": mask.right >= 0, "LOWER_RIGHT": mask.lower_right}
    options |= {name: tile[name] for name in ("GROUPS", "BLOCK_N", "STAGES", "TURNS")}
    options |= {2: {"REGISTERS": 240, "maxnreg": 168}, 3: {"REGISTERS": 160, "maxnreg": 128}}[tile["GROUPS"]]
    # Pieces of one length are shared out beforehand; of different ones, a multiprocessor takes the next when it is done.
    pieces = n_outer * cdiv(q_length, 64 * tile["GROUPS"])
    programs = pieces if options["HAS_LEFT"] or options["HAS_RIGHT"] else min(tile["programs"], pieces)
    sizes = (n_outer, heads, group, q_length, k_length, *window, heads_together(k, group), scale)
    attention_gluon_kernel[(programs,)](*descriptors, lse, *sizes, **options, num_warps=4)
# --8<-- [end:launch]
