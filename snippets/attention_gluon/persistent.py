"""Attention by groups of warps that stay: each program takes piece after piece, and heads that share the L2 cache go together."""
# needs: sm_90
import sys

import torch

if __name__ == "__main__" and (not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0)):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, warpgroup_mma, warpgroup_mma_wait

from kernels.common.tile_copies import load_tile
from snippets.attention_gluon.groups import (
    HEAD,
    KEYS,
    QUERIES,
    described_heads,
    groups_barriers,
    groups_masked,
    groups_softmax,
    groups_store,
    tried,
)
from snippets.attention_gluon.turns import give_turn, take_turn


# --8<-- [start:piece]
@gluon.jit
def persistent_piece(work, heads, length, together, CAUSAL: gl.constexpr):
    """The head of a piece of work, and its tile of queries. So many heads go together, and of all of them the longest pieces."""
    n_tiles = length // KEYS
    section = work // (together * n_tiles)
    within = work - section * (together * n_tiles)
    here = gl.minimum(together, heads - section * together)  # in the last section there may be fewer
    tile = within // here
    head = section * together + within - tile * here
    if CAUSAL:
        tile = n_tiles - 1 - tile
    return head, tile
# --8<-- [end:piece]


# --8<-- [start:load]
@gluon.jit
def persistent_load(descriptors, pages, barriers, heads, length, together, STAGES: gl.constexpr, CAUSAL: gl.constexpr):
    # This one warp fills stage after stage, piece after piece.
    q_desc, k_desc, v_desc = descriptors
    q_pages, k_ring, v_ring = pages
    q_full, q_empty, k_full, k_empty, v_full, v_empty = barriers
    step, phase = 0, 0
    for work in range(gl.program_id(0), heads * (length // KEYS), gl.num_programs(0)):
        head, tile = persistent_piece(work, heads, length, together, CAUSAL)
        n = tile + 1 if CAUSAL else length // KEYS
        for i in range(n):
            row, stage, parity = head * length + (n - 1 - i) * KEYS, step % STAGES, (step // STAGES + 1) & 1
            mbarrier.wait(k_empty.index(stage), parity)
            mbarrier.expect(k_full.index(stage), k_desc.block_type.nbytes)
            load_tile(k_desc, [row, 0], k_full.index(stage), k_ring.index(stage))
            mbarrier.wait(v_empty.index(stage), parity)
            mbarrier.expect(v_full.index(stage), v_desc.block_type.nbytes)
            load_tile(v_desc, [row, 0], v_full.index(stage), v_ring.index(stage))
            if i == gl.minimum(STAGES, n) - 1:  # the ring is full of the next piece before this waits for the piece before it
                for g in gl.static_range(2):
                    mbarrier.wait(q_empty.index(g), 1 - phase)
                    mbarrier.expect(q_full.index(g), q_desc.block_type.nbytes)
                    row = head * length + tile * KEYS + g * QUERIES
                    load_tile(q_desc, [row, 0], q_full.index(g), q_pages.index(g))
            step += 1
        phase = 1 - phase
# --8<-- [end:load]


# --8<-- [start:compute]
@gluon.jit
def persistent_compute(
    g: gl.constexpr, out_desc, pages, barriers, turns, heads, length, together, factor, STAGES: gl.constexpr, CAUSAL: gl.constexpr
):
    # This group of four warps owns 64 queries of every piece.
    q_pages, k_ring, v_ring = pages
    q_full, q_empty, k_full, k_empty, v_full, v_empty = barriers
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, KEYS, 16])
    p_layout: gl.constexpr = gl.DotOperandLayout(0, layout, 2)
    none, q = gl.zeros([QUERIES, KEYS], gl.float32, layout), q_pages.index(g)
    step, turn, phase = 0, 0, 0  # counted over all pieces, as barriers do
    for work in range(gl.program_id(0), heads * (length // KEYS), gl.num_programs(0)):
        head, tile = persistent_piece(work, heads, length, together, CAUSAL)
        n = tile + 1 if CAUSAL else length // KEYS
        out = gl.zeros([QUERIES, HEAD], gl.float32, layout)
        peak = gl.full([QUERIES], -float("inf"), gl.float32, gl.SliceLayout(1, layout))
        total = gl.zeros([QUERIES], gl.float32, gl.SliceLayout(1, layout))
        mbarrier.wait(q_full.index(g), phase)
        mbarrier.wait(k_full.index(step % STAGES), step // STAGES & 1)
        scores = warpgroup_mma(q, k_ring.index(step % STAGES).permute((1, 0)), none, use_acc=False, is_async=True)
        scores = warpgroup_mma_wait(0, (scores,))
        mbarrier.arrive(k_empty.index(step % STAGES))
        if CAUSAL:
            scores = groups_masked(scores, g)
        weights, shrink, peak, total = groups_softmax(scores, peak, total, factor)
        p = gl.convert_layout(weights.to(gl.bfloat16), p_layout)
        for _ in range(1, n):
            stage, before = (step + 1) % STAGES, step % STAGES
            mbarrier.wait(k_full.index(stage), (step + 1) // STAGES & 1)
            turn += 1
            take_turn(turns, g, turn)
            scores = warpgroup_mma(q, k_ring.index(stage).permute((1, 0)), none, use_acc=False, is_async=True)
            mbarrier.wait(v_full.index(before), step // STAGES & 1)
            out = warpgroup_mma(p, v_ring.index(before), out, is_async=True)
            give_turn(turns, g)
            scores = warpgroup_mma_wait(1, (scores,))
            mbarrier.arrive(k_empty.index(stage))
            weights, shrink, peak, total = groups_softmax(scores, peak, total, factor)
            out = warpgroup_mma_wait(0, (out,))
            mbarrier.arrive(v_empty.index(before))
            out = out * gl.expand_dims(shrink, 1)
            p = gl.convert_layout(weights.to(gl.bfloat16), p_layout)
            step += 1
        last = step % STAGES
        mbarrier.wait(v_full.index(last), step // STAGES & 1)
        out = warpgroup_mma(p, v_ring.index(last), out, is_async=True)
        out = warpgroup_mma_wait(0, (out,))
        mbarrier.arrive(v_empty.index(last))
        groups_store(out, total, out_desc, q, head * length + tile * KEYS + g * QUERIES)
        mbarrier.arrive(q_empty.index(g))  # the page has been read, and may hold the next queries
        step += 1
        phase = 1 - phase
# --8<-- [end:compute]


# --8<-- [start:kernel]
@gluon.jit(do_not_specialize=["heads", "length", "together"])
def persistent_kernel(
    q_desc, k_desc, v_desc, out_desc, heads, length, together, factor,
    CAUSAL: gl.constexpr, STAGES: gl.constexpr, COMPUTE: gl.constexpr, LOAD: gl.constexpr,
):
    # This program owns every num_programs-th piece of the work.
    q_pages = gl.allocate_shared_memory(gl.bfloat16, [2, QUERIES, HEAD], q_desc.layout)
    k_ring = gl.allocate_shared_memory(gl.bfloat16, [STAGES, KEYS, HEAD], k_desc.layout)
    v_ring = gl.allocate_shared_memory(gl.bfloat16, [STAGES, KEYS, HEAD], v_desc.layout)
    q_full, q_empty, turns = groups_barriers(2, 1), groups_barriers(2, 1), groups_barriers(2, 1)
    k_full, v_full = groups_barriers(STAGES, 1), groups_barriers(STAGES, 1)
    k_empty, v_empty = groups_barriers(STAGES, 2), groups_barriers(STAGES, 2)
    descriptors, pages = (q_desc, k_desc, v_desc), (q_pages, k_ring, v_ring)
    barriers = (q_full, q_empty, k_full, k_empty, v_full, v_empty)
    gl.warp_specialize(
        [
            (persistent_compute, (0, out_desc, pages, barriers, turns, heads, length, together, factor, STAGES, CAUSAL)),
            (persistent_compute, (1, out_desc, pages, barriers, turns, heads, length, together, factor, STAGES, CAUSAL)),
            (persistent_load, (descriptors, pages, barriers, heads, length, together, STAGES, CAUSAL)),
        ],
        [4, 1],
        [COMPUTE, LOAD],
    )
# --8<-- [end:kernel]


# --8<-- [start:launch]
def persistent_launch(q, k, v, causal, together=None, stay=True, stages=2, registers=(240, 24), at_start=168):
    """The output, and a launch. `together` heads go together, and programs `stay` or take a piece each."""
    out, descriptors = described_heads(q, k, v)
    heads, length, width = q.shape
    pieces, processors = heads * (length // 128), 132
    if q.is_cuda:
        processors = torch.cuda.get_device_properties(q.device).multi_processor_count
    together = min(heads, together or max(1, 2**24 // (2 * length * width * 2)))  # 16 MiB of keys and values
    arguments = (*descriptors, heads, length, together, 128**-0.5 * 1.4426950408889634)
    options = {"CAUSAL": causal, "STAGES": stages, "COMPUTE": registers[0], "LOAD": registers[1]}
    return out, arguments, options | {"num_warps": 4, "maxnreg": at_start, "grid": (min(processors, pieces) if stay else pieces,)}


def persistent_attention(q, k, v, causal, **options):
    out, arguments, options = persistent_launch(q, k, v, causal, **options)
    persistent_kernel[options.pop("grid")](*arguments, **options)
    return out
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:check]
    torch.manual_seed(0)
    print(tried(persistent_attention))
    #> {'full': (0, 0), 'causal': (0, 0)}
    # --8<-- [end:check]
    print(tried(lambda q, k, v, causal: persistent_attention(q, k, v, causal, together=3)))
    print(tried(lambda q, k, v, causal: persistent_attention(q, k, v, causal, stay=False)))
