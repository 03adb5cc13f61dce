"""Attention by groups of warps, in Gluon: one warp loads keys and values, and two groups of four own 64 queries each."""
# needs: sm_90
import sys

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__" and (not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0)):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

# --8<-- [start:imports]
import torch.nn.functional as F
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.common.tile_copies import load_tile, store_tile

QUERIES = gl.constexpr(64)  # of a group
KEYS = gl.constexpr(128)  # of a tile: as many as both groups have queries
HEAD = gl.constexpr(128)
STAGES = gl.constexpr(2)  # of the rings
# --8<-- [end:imports]


# --8<-- [start:load]
@gluon.jit
def groups_load(descriptors, pages, barriers, head, tile, n):
    # This one warp fetches the queries of both groups, then keys and values, stage after stage.
    q_desc, k_desc, v_desc = descriptors
    q_pages, k_ring, v_ring = pages
    q_full, k_full, k_empty, v_full, v_empty = barriers
    for g in gl.static_range(2):
        mbarrier.expect(q_full.index(g), q_desc.block_type.nbytes)
        load_tile(q_desc, [head + tile * KEYS + g * QUERIES, 0], q_full.index(g), q_pages.index(g))
    for i in range(n):
        row, stage, parity = head + (n - 1 - i) * KEYS, i % STAGES, (i // STAGES + 1) & 1
        mbarrier.wait(k_empty.index(stage), parity)  # the first round passes at once
        mbarrier.expect(k_full.index(stage), k_desc.block_type.nbytes)
        load_tile(k_desc, [row, 0], k_full.index(stage), k_ring.index(stage))
        mbarrier.wait(v_empty.index(stage), parity)
        mbarrier.expect(v_full.index(stage), v_desc.block_type.nbytes)
        load_tile(v_desc, [row, 0], v_full.index(stage), v_ring.index(stage))
# --8<-- [end:load]


# --8<-- [start:softmax]
@gluon.jit
def groups_masked(scores, g: gl.constexpr):
    """Scores of the tile on the diagonal, in which a query sees the keys up to its own."""
    layout: gl.constexpr = scores.type.layout
    queries = g * QUERIES + gl.arange(0, QUERIES, gl.SliceLayout(1, layout))
    keys = gl.arange(0, KEYS, gl.SliceLayout(0, layout))
    return gl.where(gl.expand_dims(keys, 0) <= gl.expand_dims(queries, 1), scores, -float("inf"))


@gluon.jit
def groups_softmax(scores, peak, total, factor):
    """The weights of a tile, what the sums before it are to be multiplied by, the new largest score and the new sum."""
    new_peak = gl.maximum(peak, gl.max(scores, 1) * factor)
    weights = gl.exp2(scores * factor - gl.expand_dims(new_peak, 1))
    shrink = gl.exp2(peak - new_peak)
    return weights, shrink, new_peak, total * shrink + gl.sum(weights, 1)


@gluon.jit
def groups_store(out, total, out_desc, page, row):
    """The group's rows, divided by their sums and written through the page that held its queries."""
    page.store((out * gl.expand_dims(1.0 / total, 1)).to(gl.bfloat16))
    fence_async_shared()
    store_tile(out_desc, [row, 0], page)
    tma.store_wait(0)
# --8<-- [end:softmax]


# --8<-- [start:step]
@gluon.jit
def groups_step(
    i, g: gl.constexpr, q, out, peak, total, k_ring, v_ring, k_full, k_empty, v_full, v_empty, factor, MASKED: gl.constexpr
):
    """Take the i-th tile of keys and values into the sums: one product, the softmax, the other product."""
    layout: gl.constexpr = out.type.layout
    p_layout: gl.constexpr = gl.DotOperandLayout(0, layout, 2)
    stage, parity = i % STAGES, i // STAGES & 1
    mbarrier.wait(k_full.index(stage), parity)
    none = gl.zeros([QUERIES, KEYS], gl.float32, layout)
    scores = warpgroup_mma(q, k_ring.index(stage).permute((1, 0)), none, use_acc=False, is_async=True)
    scores = warpgroup_mma_wait(0, (scores,))
    mbarrier.arrive(k_empty.index(stage))
    if MASKED:
        scores = groups_masked(scores, g)
    weights, shrink, peak, total = groups_softmax(scores, peak, total, factor)
    p = gl.convert_layout(weights.to(gl.bfloat16), p_layout)
    mbarrier.wait(v_full.index(stage), parity)
    out = warpgroup_mma(p, v_ring.index(stage), out * gl.expand_dims(shrink, 1), is_async=True)
    out = warpgroup_mma_wait(0, (out,))
    mbarrier.arrive(v_empty.index(stage))
    return out, peak, total
# --8<-- [end:step]


# --8<-- [start:compute]
@gluon.jit
def groups_compute(g: gl.constexpr, out_desc, pages, barriers, row, n, factor, CAUSAL: gl.constexpr):
    # This group of four warps owns the 64 queries from `row` on.
    q_pages, k_ring, v_ring = pages
    q_full, k_full, k_empty, v_full, v_empty = barriers
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, KEYS, 16])  # of scores and, as wide, of sums
    out = gl.zeros([QUERIES, HEAD], gl.float32, layout)
    peak = gl.full([QUERIES], -float("inf"), gl.float32, gl.SliceLayout(1, layout))
    total = gl.zeros([QUERIES], gl.float32, gl.SliceLayout(1, layout))
    q = q_pages.index(g)
    mbarrier.wait(q_full.index(g), 0)
    out, peak, total = groups_step(
        0, g, q, out, peak, total, k_ring, v_ring, k_full, k_empty, v_full, v_empty, factor, CAUSAL
    )
    for i in range(1, n):
        out, peak, total = groups_step(
            i, g, q, out, peak, total, k_ring, v_ring, k_full, k_empty, v_full, v_empty, factor, False
        )
    groups_store(out, total, out_desc, q, row)
# --8<-- [end:compute]


# --8<-- [start:kernel]
@gluon.jit
def groups_barriers(N: gl.constexpr, COUNT: gl.constexpr):
    """N barriers, each of which waits for COUNT arrivals."""
    made = gl.allocate_shared_memory(gl.int64, [N, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(N):
        mbarrier.init(made.index(i), count=COUNT)
    return made


@gluon.jit
def groups_kernel(q_desc, k_desc, v_desc, out_desc, length, factor, CAUSAL: gl.constexpr):
    # This program owns 128 queries of one head: 64 for each of its two groups.
    q_pages = gl.allocate_shared_memory(gl.bfloat16, [2, QUERIES, HEAD], q_desc.layout)
    k_ring = gl.allocate_shared_memory(gl.bfloat16, [STAGES, KEYS, HEAD], k_desc.layout)
    v_ring = gl.allocate_shared_memory(gl.bfloat16, [STAGES, KEYS, HEAD], v_desc.layout)
    q_full, k_full, v_full = groups_barriers(2, 1), groups_barriers(STAGES, 1), groups_barriers(STAGES, 1)
    k_empty, v_empty = groups_barriers(STAGES, 2), groups_barriers(STAGES, 2)  # empty when both groups say so
    tile, head = gl.num_programs(0) - 1 - gl.program_id(0), gl.program_id(1) * length
    n = tile + 1 if CAUSAL else length // KEYS
    descriptors, pages = (q_desc, k_desc, v_desc), (q_pages, k_ring, v_ring)
    barriers, row = (q_full, k_full, k_empty, v_full, v_empty), head + tile * KEYS
    gl.warp_specialize(
        [
            (groups_compute, (0, out_desc, pages, barriers, row, n, factor, CAUSAL)),
            (groups_compute, (1, out_desc, pages, barriers, row + QUERIES, n, factor, CAUSAL)),
            (groups_load, (descriptors, pages, barriers, head, tile, n)),
        ],
        [4, 1],  # warps of the second group and of the loader; the first has those of the launch
        [240, 24],  # and their registers a thread
    )
# --8<-- [end:kernel]


# --8<-- [start:launch]
def described_heads(q, k, v):
    """A tensor for the output, and all four as matrices of heads x length rows, through which tiles are copied."""
    fit = all(x.is_contiguous() and x.shape == q.shape and x.dtype == torch.bfloat16 for x in (q, k, v))
    if not fit or q.dim() != 3 or q.shape[2] != 128 or q.shape[1] % 128:
        raise ValueError(f"q, k, v: bfloat16 of shape [heads, a multiple of 128, 128] expected, got {tuple(q.shape)}, {q.dtype}")
    out, descriptors = torch.empty_like(q), []
    for x, rows in ((q, 64), (k, 128), (v, 128), (out, 64)):
        layout = gl.NVMMASharedLayout.get_default_for([rows, 128], gl.bfloat16)
        descriptors.append(GluonDescriptor.from_tensor(x.view(-1, 128), [rows, 128], layout))
    return out, descriptors


def groups_attention(q, k, v, causal):
    out, descriptors = described_heads(q, k, v)
    grid, factor = (q.shape[1] // 128, q.shape[0]), 128**-0.5 * 1.4426950408889634
    groups_kernel[grid](*descriptors, q.shape[1], factor, CAUSAL=causal, num_warps=4, maxnreg=168)
    return out
# --8<-- [end:launch]


# --8<-- [start:tried]
def exact_attention(q, k, v, causal):
    """In float64, a head at a time."""
    heads = ([x.double() for x in head] for head in zip(q, k, v, strict=True))
    return torch.stack([F.scaled_dot_product_attention(*head, is_causal=causal) for head in heads])


def wrong_rows(out, expected):
    """How many rows are off by more than one part in fifty, or are not numbers."""
    off = (out.double() - expected).norm(dim=-1)
    return int((~(off < 0.02 * expected.norm(dim=-1))).sum())


def tried(attention, times=20):
    """How many rows are wrong, with all keys and causal, and how many of further runs give other bits."""
    q, k, v = torch.randn(3, 16, 2048, 128, device="cuda").bfloat16()
    found = {}
    for name, causal in (("full", False), ("causal", True)):
        out = attention(q, k, v, causal)
        others = sum(not torch.equal(attention(q, k, v, causal), out) for _ in range(times))
        found[name] = wrong_rows(out, exact_attention(q, k, v, causal)), others
    return found
# --8<-- [end:tried]


if __name__ == "__main__":
    # --8<-- [start:check]
    torch.manual_seed(0)
    print(tried(groups_attention))
    #> {'full': (0, 0), 'causal': (0, 0)}
    # --8<-- [end:check]
