"""The kernel of `kernels.max`: a tile of results by terms, and a meeting where terms are shared out.

    y[i] = max_j x[i, j],    index[i] = the first j at which x[i, j] is y[i]

Where several programs share the terms of a result, each leaves its largest element, and the last to finish compares
those. Bytes and flops are those of `kernels.max`.
"""

import torch
import triton
import triton.language as tl

from kernels.common.counters import arrival_counters, shared_key, workspace
from kernels.reductions.plan import Plan


@triton.jit
def greatest(x):
    """The largest along the second axis; NaN is larger than every number."""
    nan = x != x
    any_nan = tl.max(nan.to(tl.int32), axis=1) > 0
    return tl.where(any_nan, float("nan"), tl.max(tl.where(nan, -float("inf"), x), axis=1))


@triton.jit
def first_greatest(x, indices, FAR: tl.constexpr):
    """The largest along the second axis and its smallest index; every index is below FAR."""
    nan = x != x
    top = tl.max(tl.where(nan, -float("inf"), x), axis=1)
    # Where there are NaNs, the smallest of these is negative.
    ranks = tl.where(nan, indices - FAR, tl.where(x == top[:, None], indices, FAR))
    rank = tl.min(ranks, axis=1)
    return tl.where(rank < 0, float("nan"), top), tl.where(rank < 0, rank + FAR, rank)


@triton.jit
def max_kernel(
    x_ptr,
    y_ptr,
    index_ptr,
    partial_ptr,
    partial_index_ptr,
    arrived_ptr,
    outer_stride,
    result_stride,
    term_stride,
    n_results,
    n_terms,
    n_parts,
    OUTER: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    PARTS: tl.constexpr,
    STAGES: tl.constexpr,
    RESULT_UNIT: tl.constexpr,
    TERM_UNIT: tl.constexpr,
    ONE_BLOCK: tl.constexpr,
    INDICES: tl.constexpr,
):
    # Strides and sizes come divided by the power of two that they share, or the compiler would not know of it.
    n_results, n_terms = tl.cast(n_results, tl.int64) * TERM_UNIT, tl.cast(n_terms, tl.int64) * RESULT_UNIT
    # This program owns BLOCK_M results, or of their terms every n_parts-th block.
    program, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    group, outer = program, 0
    if OUTER:
        n_groups = tl.cdiv(n_results, BLOCK_M)
        group, outer = program % n_groups, program // n_groups
    results = group * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    terms = tl.arange(0, BLOCK_N).to(tl.int64)  # [BLOCK_N]
    mask = results < n_results  # [BLOCK_M]
    outer_offset = outer * outer_stride * (RESULT_UNIT * TERM_UNIT)
    result_offsets = results[:, None] * result_stride * RESULT_UNIT  # [BLOCK_M, 1]
    x_ptrs = x_ptr + outer_offset + result_offsets + terms[None, :] * term_stride * TERM_UNIT  # [BLOCK_M, BLOCK_N]
    # The block at the end, which is not whole, falls to the first part; the others find nothing there. From it the
    # program walks back, so that the first of equal elements comes last.
    whole, end = 0, 0
    if not ONE_BLOCK:
        whole = n_terms // BLOCK_N
        end = (whole + part) * BLOCK_N
    end_mask = mask[:, None] & (terms < n_terms - end)[None, :]  # [BLOCK_M, BLOCK_N]
    end_ptrs = x_ptrs + end * term_stride * TERM_UNIT
    tail = tl.load(end_ptrs, mask=end_mask, other=-float("inf"), eviction_policy="evict_first")
    peak = tail.to(tl.float32)
    indices = tl.arange(0, BLOCK_N)[None, :]
    if not ONE_BLOCK:
        met = tl.zeros([BLOCK_M, BLOCK_N], tl.int32) + (whole + part).to(tl.int32)  # in which block
        own = tl.cdiv(whole - part, n_parts)
        for turn in tl.range(0, own, num_stages=STAGES):
            block = part + (own - 1 - turn) * n_parts
            x_block_ptrs = x_ptrs + block * BLOCK_N * term_stride * TERM_UNIT
            x_block = tl.load(x_block_ptrs, mask=mask[:, None], other=-float("inf"), eviction_policy="evict_first")
            x = x_block.to(tl.float32)
            if INDICES:
                replaces = (x >= peak) | (x != x)
                met = tl.where(replaces, block.to(tl.int32), met)
                peak = tl.where(replaces, x, peak)
            else:
                peak = tl.maximum(peak, x, propagate_nan=tl.PropagateNan.ALL)
        indices = met.to(tl.int64) * BLOCK_N + terms[None, :]
    y_offsets = outer * n_results + results  # [BLOCK_M]
    if INDICES:
        y, index = first_greatest(peak, indices, 2**30 if ONE_BLOCK else 2**62)  # [BLOCK_M]
    else:
        y = greatest(peak)
    if PARTS == 1:
        tl.store(y_ptr + y_offsets, y, mask=mask)
        if INDICES:
            tl.store(index_ptr + y_offsets, index, mask=mask)
    else:
        # What the parts find is laid out as [parts, programs, BLOCK_M].
        row = tl.num_programs(0).to(tl.int64) * BLOCK_M
        places = program * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
        tl.store(partial_ptr + part * row + places, y)
        if INDICES:
            tl.store(partial_index_ptr + part * row + places, index)
        tl.debug_barrier()  # all of the block is stored before this program reports
        if tl.atomic_add(arrived_ptr + program, 1, sem="acq_rel") == n_parts - 1:
            # This program is the last. It compares what all have left.
            parts = tl.arange(0, PARTS)[None, :]  # [1, PARTS]
            offsets = parts * row + places[:, None]  # [BLOCK_M, PARTS]
            peaks = tl.load(partial_ptr + offsets, mask=parts < n_parts, other=-float("inf"), cache_modifier=".cg")
            if INDICES:
                left = tl.load(partial_index_ptr + offsets, mask=parts < n_parts, other=2**62 - 1, cache_modifier=".cg")
                top, first = first_greatest(peaks, left, 2**62)
                tl.store(index_ptr + y_offsets, first, mask=mask)
            else:
                top = greatest(peaks)
            tl.store(y_ptr + y_offsets, top, mask=mask)
            tl.store(arrived_ptr + program, 0)


def max_planned(x: torch.Tensor, y: torch.Tensor, index: torch.Tensor | None, plan: Plan) -> None:
    partial = arrived = y
    partial_index = found = y if index is None else index
    if plan.parts > 1:
        key = shared_key(x)
        partial, arrived = workspace(x, plan.scratch, key), arrival_counters(x, plan.programs, key)
        if index is not None:
            partial_index = torch.empty(plan.scratch, dtype=torch.int64, device=x.device)
    buffers = (y, found, partial, partial_index, arrived)
    max_kernel[plan.grid](x, *buffers, *plan.sizes, **plan.meta, INDICES=index is not None)
