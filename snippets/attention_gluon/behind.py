"""Attention by groups of warps, P·V behind Q·K: a tile's softmax is computed while the tensor cores have two products in hand."""
# needs: sm_90
import sys

import torch

if __name__ == "__main__" and (not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0)):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, warpgroup_mma, warpgroup_mma_wait

from snippets.attention_gluon.groups import (
    HEAD,
    KEYS,
    QUERIES,
    STAGES,
    described_heads,
    groups_barriers,
    groups_load,
    groups_masked,
    groups_softmax,
    groups_store,
    tried,
)


# --8<-- [start:compute]
@gluon.jit
def behind_compute(g: gl.constexpr, out_desc, pages, barriers, row, n, factor, CAUSAL: gl.constexpr):
    # This group of four warps owns the 64 queries from `row` on.
    q_pages, k_ring, v_ring = pages
    q_full, k_full, k_empty, v_full, v_empty = barriers
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, KEYS, 16])
    p_layout: gl.constexpr = gl.DotOperandLayout(0, layout, 2)
    none, out = gl.zeros([QUERIES, KEYS], gl.float32, layout), gl.zeros([QUERIES, HEAD], gl.float32, layout)
    peak = gl.full([QUERIES], -float("inf"), gl.float32, gl.SliceLayout(1, layout))
    total = gl.zeros([QUERIES], gl.float32, gl.SliceLayout(1, layout))
    q = q_pages.index(g)
    mbarrier.wait(q_full.index(g), 0)
    mbarrier.wait(k_full.index(0), 0)
    scores = warpgroup_mma(q, k_ring.index(0).permute((1, 0)), none, use_acc=False, is_async=True)
    scores = warpgroup_mma_wait(0, (scores,))
    mbarrier.arrive(k_empty.index(0))
    if CAUSAL:
        scores = groups_masked(scores, g)
    weights, shrink, peak, total = groups_softmax(scores, peak, total, factor)
    p = gl.convert_layout(weights.to(gl.bfloat16), p_layout)  # of the first tile, whose values are still to come
    for i in range(1, n):
        stage, before = i % STAGES, (i - 1) % STAGES
        mbarrier.wait(k_full.index(stage), i // STAGES & 1)
        scores = warpgroup_mma(q, k_ring.index(stage).permute((1, 0)), none, use_acc=False, is_async=True)
        mbarrier.wait(v_full.index(before), (i - 1) // STAGES & 1)
        out = warpgroup_mma(p, v_ring.index(before), out, is_async=True)
        scores = warpgroup_mma_wait(1, (scores,))  # all but the newest, which is the product with the values
        mbarrier.arrive(k_empty.index(stage))
        weights, shrink, peak, total = groups_softmax(scores, peak, total, factor)
        out = warpgroup_mma_wait(0, (out,))
        mbarrier.arrive(v_empty.index(before))
        out = out * gl.expand_dims(shrink, 1)
        p = gl.convert_layout(weights.to(gl.bfloat16), p_layout)
    last = (n - 1) % STAGES
    mbarrier.wait(v_full.index(last), (n - 1) // STAGES & 1)
    out = warpgroup_mma(p, v_ring.index(last), out, is_async=True)
    out = warpgroup_mma_wait(0, (out,))
    groups_store(out, total, out_desc, q, row)
# --8<-- [end:compute]


# --8<-- [start:kernel]
@gluon.jit
def behind_kernel(q_desc, k_desc, v_desc, out_desc, length, factor, CAUSAL: gl.constexpr):
    # This program owns 128 queries of one head: 64 for each of its two groups.
    q_pages = gl.allocate_shared_memory(gl.bfloat16, [2, QUERIES, HEAD], q_desc.layout)
    k_ring = gl.allocate_shared_memory(gl.bfloat16, [STAGES, KEYS, HEAD], k_desc.layout)
    v_ring = gl.allocate_shared_memory(gl.bfloat16, [STAGES, KEYS, HEAD], v_desc.layout)
    q_full, k_full, v_full = groups_barriers(2, 1), groups_barriers(STAGES, 1), groups_barriers(STAGES, 1)
    k_empty, v_empty = groups_barriers(STAGES, 2), groups_barriers(STAGES, 2)
    tile, head = gl.num_programs(0) - 1 - gl.program_id(0), gl.program_id(1) * length
    n = tile + 1 if CAUSAL else length // KEYS
    descriptors, pages = (q_desc, k_desc, v_desc), (q_pages, k_ring, v_ring)
    barriers, row = (q_full, k_full, k_empty, v_full, v_empty), head + tile * KEYS
    gl.warp_specialize(
        [
            (behind_compute, (0, out_desc, pages, barriers, row, n, factor, CAUSAL)),
            (behind_compute, (1, out_desc, pages, barriers, row + QUERIES, n, factor, CAUSAL)),
            (groups_load, (descriptors, pages, barriers, head, tile, n)),
        ],
        [4, 1],
        [240, 24],
    )


def behind_attention(q, k, v, causal):
    out, descriptors = described_heads(q, k, v)
    grid, factor = (q.shape[1] // 128, q.shape[0]), 128**-0.5 * 1.4426950408889634
    behind_kernel[grid](*descriptors, q.shape[1], factor, CAUSAL=causal, num_warps=4, maxnreg=168)
    return out
# --8<-- [end:kernel]


if __name__ == "__main__":
    # --8<-- [start:check]
    torch.manual_seed(0)
    print(tried(behind_attention))
    #> {'full': (0, 0), 'causal': (0, 0)}
    # --8<-- [end:check]
