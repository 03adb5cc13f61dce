"""Two groups of warps that take turns at the tensor cores, and write down the clock at every step; and without turns."""
# needs: sm_90
import sys

import torch

if __name__ == "__main__" and (not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0)):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

# --8<-- [start:imports]
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

from kernels.common.tile_copies import load_tile
# --8<-- [end:imports]

from kernels.tools.benchmark import alternate, keep, quantiles

ROWS = gl.constexpr(64)  # queries of a group
KEYS = gl.constexpr(128)  # keys and values of a tile
HEAD = gl.constexpr(128)
EVENTS = ["turn", "issued", "scores", "weights", "done"]


# --8<-- [start:stamp]
@gluon.jit
def stamp(at, x, CLOCK: gl.constexpr):
    """Write down the multiprocessor's clock as the first row's threads read it, once they have their numbers of x."""
    if CLOCK:
        clock = gl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l,f", [x], dtype=gl.int64, is_pure=False, pack=1)
        rows = gl.arange(0, ROWS, x.type.layout)
        gl.store(at + rows, clock, mask=rows == 0)
# --8<-- [end:stamp]


@gluon.jit
def timeline_load(descriptors, tiles, barriers, head_row, first, n):
    # This warp loads the program's queries, then tile after tile of keys and of values.
    q_desc, k_desc, v_desc = descriptors
    q_page, k_ring, v_ring = tiles
    q_full, k_full, k_empty, v_full, v_empty = barriers
    mbarrier.expect(q_full, q_desc.block_type.nbytes)
    load_tile(q_desc, [head_row + first, 0], q_full, q_page)
    for i in range(n):
        stage, parity = i % 2, (i // 2 + 1) & 1
        mbarrier.wait(k_empty.index(stage), parity)
        mbarrier.expect(k_full.index(stage), k_desc.block_type.nbytes)
        load_tile(k_desc, [head_row + i * KEYS, 0], k_full.index(stage), k_ring.index(stage))
        mbarrier.wait(v_empty.index(stage), parity)
        mbarrier.expect(v_full.index(stage), v_desc.block_type.nbytes)
        load_tile(v_desc, [head_row + i * KEYS, 0], v_full.index(stage), v_ring.index(stage))


@gluon.jit
def timeline_softmax(scores, peak, total, scale):
    new_peak = gl.maximum(peak, gl.max(scores, 1) * scale)
    weights = gl.exp2(scores * scale - gl.expand_dims(new_peak, 1))
    shrink = gl.exp2(peak - new_peak)
    return weights, shrink, new_peak, total * shrink + gl.sum(weights, 1)


# --8<-- [start:walk]
@gluon.jit
def timeline_compute(
    g: gl.constexpr, tiles, barriers, turns, out_ptr, clock_ptr, head_row, first, n, scale,
    TURNS: gl.constexpr, CLOCK: gl.constexpr,
):
    # This group of four warps owns 64 queries.
    q_page, k_ring, v_ring = tiles
    q_full, k_full, k_empty, v_full, v_empty = barriers
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    left: gl.constexpr = gl.DotOperandLayout(0, layout, 2)
    down: gl.constexpr = gl.SliceLayout(1, layout)
    none = gl.zeros([ROWS, KEYS], gl.float32, layout)
    out = gl.zeros([ROWS, HEAD], gl.float32, layout)
    peak, total = gl.full([ROWS], -float("inf"), gl.float32, down), gl.zeros([ROWS], gl.float32, down)
    q = q_page.slice(g * ROWS, ROWS, 0)
    mbarrier.wait(q_full, 0)
    mbarrier.wait(k_full.index(0), 0)
    scores = warpgroup_mma(q, k_ring.index(0).permute((1, 0)), none, use_acc=False, is_async=True)
    scores = warpgroup_mma_wait(0, (scores,))
    mbarrier.arrive(k_empty.index(0))
    weights, shrink, peak, total = timeline_softmax(scores, peak, total, scale)
    p = gl.convert_layout(weights.to(gl.bfloat16), left)
    for i in range(1, n):
        at = clock_ptr + ((gl.program_id(0) * 2 + g) * n + i) * 5
        stage, before = i % 2, (i - 1) % 2
        mbarrier.wait(k_full.index(stage), i // 2 & 1)
        if TURNS:
            mbarrier.wait(turns.index(g), (i + g) & 1)
        stamp(at, total, CLOCK)  # it is this group's turn
        scores = warpgroup_mma(q, k_ring.index(stage).permute((1, 0)), none, use_acc=False, is_async=True)
        mbarrier.wait(v_full.index(before), (i - 1) // 2 & 1)
        out = warpgroup_mma(p, v_ring.index(before), out, is_async=True)
        if TURNS:
            mbarrier.arrive(turns.index((g + 1) % 2))
        stamp(at + 1, total, CLOCK)  # both products are issued
        scores = warpgroup_mma_wait(1, (scores,))
        stamp(at + 2, total, CLOCK)  # the scores are there
        mbarrier.arrive(k_empty.index(stage))
        weights, shrink, peak, total = timeline_softmax(scores, peak, total, scale)
        stamp(at + 3, total, CLOCK)  # and so is the sum of their weights
        out = warpgroup_mma_wait(0, (out,))
        stamp(at + 4, total, CLOCK)  # the weights before have met their values
        mbarrier.arrive(v_empty.index(before))
        out = out * gl.expand_dims(shrink, 1)
        p = gl.convert_layout(weights.to(gl.bfloat16), left)
    last = (n - 1) % 2
    mbarrier.wait(v_full.index(last), (n - 1) // 2 & 1)
    out = warpgroup_mma(p, v_ring.index(last), out, is_async=True)
    out = warpgroup_mma_wait(0, (out,))
    rows = (head_row + first + g * ROWS + gl.arange(0, ROWS, down)).to(gl.int64) * HEAD
    columns = gl.arange(0, HEAD, gl.SliceLayout(0, layout))
    out = out * gl.expand_dims(1.0 / total, 1)
    gl.store(out_ptr + gl.expand_dims(rows, 1) + gl.expand_dims(columns, 0), out.to(gl.bfloat16))
# --8<-- [end:walk]


@gluon.jit
def timeline_kernel(
    q_desc, k_desc, v_desc, out_ptr, clock_ptr, length, scale, TURNS: gl.constexpr, CLOCK: gl.constexpr
):
    # This program owns 128 queries of one head, 64 for each of two groups.
    q_page = gl.allocate_shared_memory(gl.bfloat16, [2 * ROWS, HEAD], q_desc.layout)
    k_ring = gl.allocate_shared_memory(gl.bfloat16, [2, KEYS, HEAD], k_desc.layout)
    v_ring = gl.allocate_shared_memory(gl.bfloat16, [2, KEYS, HEAD], v_desc.layout)
    q_full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    turns = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    k_full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    k_empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    v_full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    v_empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(q_full, count=1)
    for stage in gl.static_range(2):
        mbarrier.init(turns.index(stage), count=1)
        mbarrier.init(k_full.index(stage), count=1)
        mbarrier.init(v_full.index(stage), count=1)
        mbarrier.init(k_empty.index(stage), count=2)
        mbarrier.init(v_empty.index(stage), count=2)
    n_tiles = length // (2 * ROWS)
    head_row, first = gl.program_id(0) // n_tiles * length, gl.program_id(0) % n_tiles * (2 * ROWS)
    n = length // KEYS
    descriptors, tiles = (q_desc, k_desc, v_desc), (q_page, k_ring, v_ring)
    barriers = (q_full, k_full, k_empty, v_full, v_empty)
    gl.warp_specialize(
        [
            (timeline_compute, (0, tiles, barriers, turns, out_ptr, clock_ptr, head_row, first, n, scale, TURNS, CLOCK)),
            (timeline_compute, (1, tiles, barriers, turns, out_ptr, clock_ptr, head_row, first, n, scale, TURNS, CLOCK)),
            (timeline_load, (descriptors, tiles, barriers, head_row, first, n)),
        ],
        [4, 1],
        [240, 24],
    )


def timeline(q, k, v, TURNS, CLOCK):
    """The output, and each program's clock at every event: [programs, groups, tiles, events], of which no first tile has one."""
    heads, length, width = q.shape
    layout = gl.NVMMASharedLayout.get_default_for([128, width], gl.bfloat16)
    descriptors = [GluonDescriptor(x, [heads * length, width], [width, 1], [128, width], layout) for x in (q, k, v)]
    out, programs = torch.empty_like(q), heads * length // 128
    clocks = torch.zeros(programs, 2, length // 128, len(EVENTS), dtype=torch.int64, device=q.device)
    scale = width**-0.5 * 1.4426950408889634
    timeline_kernel[(programs,)](
        *descriptors, out, clocks, length, scale, TURNS=TURNS, CLOCK=CLOCK, num_warps=4, maxnreg=168
    )
    return out, clocks


if __name__ == "__main__":
    # --8<-- [start:run]
    q, k, v = torch.randn(3, 16, 1024, 128, device="cuda").bfloat16()
    exact = torch.softmax(q.double() @ k.double().mT * 128**-0.5, dim=-1) @ v.double()
    clocks = {}
    for name, turns in (("turns", True), ("free", False)):
        for _ in range(3):  # the last run counts
            out, found = timeline(q, k, v, turns, True)
        assert (out.double() - exact).norm() / exact.norm() < 1e-2
        found = found[:, :, 1:].cpu()  # the first tile has no turn
        found = found - found.amin(dim=(1, 2, 3), keepdim=True)  # a multiprocessor's clock begins anywhere
        assert (found.diff(dim=-1) >= 0).all()  # every group goes from event to event
        clocks[name] = found
    # --8<-- [end:run]
    ways = {"turns": (True, False), "turns_stamped": (True, True), "free": (False, False), "free_stamped": (False, True)}
    times = alternate([lambda way=way: timeline(q, k, v, *way) for way in ways.values()])
    us = {name: quantiles(found)[1] * 1e3 for name, found in zip(ways, times, strict=True)}
    for name, found in clocks.items():
        print(f"{name}: {int(found.amax(dim=(1, 2, 3)).median())} cycles for seven tiles, in the middle of {len(found)} programs")
    keep(figures={"events": EVENTS, "clocks": {name: found[0].tolist() for name, found in clocks.items()}, "us": us})
