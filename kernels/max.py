"""The largest element: of everything, or along one dimension together with its index.

    y[i] = max_j x[i, j],    index[i] = the first j at which x[i, j] is y[i]

NaN counts as larger than every number. For n elements of e bytes the kernel reads ne bytes and does n comparisons; what
it writes is small beside that, so the memory sets the time. `kernels.reduction` says which program compares what.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from kernels.arguments import check_dim, check_float_tensor
from kernels.reduction import Plan, arrivals, reduction_plan


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
    INDICES: tl.constexpr,
):
    # This program owns BLOCK_M results, or of their terms every n_parts-th block.
    program, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    group, outer = program, 0
    if OUTER:
        n_groups = tl.cdiv(n_results, BLOCK_M)
        group, outer = program % n_groups, program // n_groups
    results = group * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    terms = tl.arange(0, BLOCK_N).to(tl.int64)  # [BLOCK_N]
    mask = results < n_results  # [BLOCK_M]
    x_ptrs = x_ptr + outer * outer_stride + results[:, None] * result_stride + terms[None, :] * term_stride  # [BLOCK_M, BLOCK_N]
    # The block at the end, which is not whole, falls to the first part; the others find nothing there. From it the
    # program walks back, so that the first of equal elements comes last.
    whole = n_terms // BLOCK_N
    end = (whole + part) * BLOCK_N
    end_mask = mask[:, None] & (terms < n_terms - end)[None, :]  # [BLOCK_M, BLOCK_N]
    tail = tl.load(x_ptrs + end * term_stride, mask=end_mask, other=-float("inf"), eviction_policy="evict_first")
    peak = tail.to(tl.float32)
    met = tl.zeros([BLOCK_M, BLOCK_N], tl.int32) + (whole + part).to(tl.int32)  # in which block
    own = tl.cdiv(whole - part, n_parts)
    for turn in tl.range(0, own, num_stages=STAGES):
        block = part + (own - 1 - turn) * n_parts
        x_block_ptrs = x_ptrs + block * BLOCK_N * term_stride
        x_block = tl.load(x_block_ptrs, mask=mask[:, None], other=-float("inf"), eviction_policy="evict_first")
        x = x_block.to(tl.float32)
        if INDICES:
            replaces = (x >= peak) | (x != x)
            met = tl.where(replaces, block.to(tl.int32), met)
            peak = tl.where(replaces, x, peak)
        else:
            peak = tl.maximum(peak, x, propagate_nan=tl.PropagateNan.ALL)
    nan = peak != peak
    any_nan = tl.max(nan.to(tl.int32), axis=1) > 0  # [BLOCK_M]
    y = tl.where(any_nan, float("nan"), tl.max(tl.where(nan, -float("inf"), peak), axis=1))  # [BLOCK_M]
    y_offsets = outer * n_results + results  # [BLOCK_M]
    if INDICES:
        found = tl.where(any_nan[:, None], nan, peak == y[:, None])  # [BLOCK_M, BLOCK_N]
        index = tl.min(tl.where(found, met.to(tl.int64) * BLOCK_N + terms[None, :], 2**62), axis=1)  # [BLOCK_M]
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
            nans = peaks != peaks
            any_nans = tl.max(nans.to(tl.int32), axis=1) > 0  # [BLOCK_M]
            top = tl.where(any_nans, float("nan"), tl.max(tl.where(nans, -float("inf"), peaks), axis=1))  # [BLOCK_M]
            tl.store(y_ptr + y_offsets, top, mask=mask)
            if INDICES:
                indices = tl.load(partial_index_ptr + offsets, mask=parts < n_parts, other=2**62, cache_modifier=".cg")
                tops = tl.where(any_nans[:, None], nans, peaks == top[:, None])  # [BLOCK_M, PARTS]
                tl.store(index_ptr + y_offsets, tl.min(tl.where(tops, indices, 2**62), axis=1), mask=mask)
            tl.store(arrived_ptr + program, 0)


def max_planned(x: torch.Tensor, y: torch.Tensor, index: torch.Tensor | None, plan: Plan) -> None:
    partial = arrived = y
    partial_index = found = y if index is None else index
    if plan.parts > 1:
        partial = torch.empty(plan.scratch, dtype=torch.float32, device=x.device)
        if index is not None:
            partial_index = torch.empty(plan.scratch, dtype=torch.int64, device=x.device)
        arrived = arrivals(x, plan.programs)
    buffers = (y, found, partial, partial_index, arrived)
    max_kernel[plan.grid](x, *buffers, *plan.sizes, **plan.meta, INDICES=index is not None)


def max_forward(x: torch.Tensor, dim: int | None) -> Any:
    """The largest element without a gradient: a pair where there is a dim, else a tensor and None."""
    if x.numel() == 0 and dim is not None:
        values, indices = torch.max(x, dim)
        return values, indices
    x = x.resolve_neg()
    plan = reduction_plan(x.shape, x.stride(), dim, indices=dim is not None)
    y = torch.empty(plan.shape, dtype=x.dtype, device=x.device)
    index = None if dim is None else torch.empty(plan.shape, dtype=torch.int64, device=x.device)
    with torch.cuda.device_of(x):
        max_planned(x.contiguous() if plan.copy else x, y, index, plan)
    return y, index


class Max(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y, _ = max_forward(x, None)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, dy):
        # Elements that share the first place share the gradient evenly.
        x, y = ctx.saved_tensors
        first = (x == y) | (x.isnan() & y.isnan())
        return first * (dy / first.sum())


class MaxAlong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        y, index = max_forward(x, dim)
        ctx.shape, ctx.dim = x.shape, dim
        ctx.save_for_backward(index)
        ctx.mark_non_differentiable(index)
        return y, index

    @staticmethod
    def backward(ctx, dy, _):
        # The gradient goes to the one element whose index was returned.
        (index,) = ctx.saved_tensors
        if not ctx.shape:
            return dy, None
        zeros = torch.zeros(ctx.shape, dtype=dy.dtype, device=dy.device)
        return zeros.scatter(ctx.dim, index.unsqueeze(ctx.dim), dy.unsqueeze(ctx.dim)), None


def max(x: torch.Tensor, dim: int | None = None) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Find the largest element of `x`, or those along one dimension with their indices, as `torch.max` does.

    Args:
        x: A tensor of any shape and strides; float32, float16 or bfloat16.
        dim: The dimension to search, from `-x.ndim` to `x.ndim - 1`, or None for all of them.

    Returns:
        Without `dim`, a tensor of the dtype of `x` without dimensions. With it, the named tuple `(values, indices)` that
            `torch.max` returns: both have the shape of `x` without `dim`, the indices are int64 and are those of the
            first of several equal elements. (For the values alone, `torch.amax` has a `dim` and no indices.) NaN is
            larger than every number, as in PyTorch.

    Raises:
        TypeError: `x` is no tensor or has another dtype (an integer tensor, for example), or `dim` is neither int nor None.
        ValueError: there is nothing to choose from (no elements, or a `dim` of size 0), `dim` is out of range, or a CPU
            tensor came while Triton's interpreter is off.

    Differentiable, any number of times, as in PyTorch: without `dim`, elements that share the first place share the
    gradient evenly; with it, the gradient goes to the element at the index that was returned.

    Bytes:
        For n elements of e bytes, ne read. Any dimension is searched where it lies, without a copy. Only where what
        remains has more than two strides, or everything is searched and has more than one, `x` is copied first.

    Flops:
        n comparisons.

    Source:
        The definition; M. Harris, "Optimizing parallel reduction in CUDA", 2007, for results of many programs.
    """
    check_float_tensor("x", x)
    if dim is not None:
        dim = check_dim("dim", dim, x)
    if x.numel() == 0 and (dim is None or x.shape[dim] == 0):
        where = "" if dim is None else f" along dim {dim}"
        raise ValueError(f"x: expected at least one element{where}, got shape {tuple(x.shape)}")
    grad = torch.is_grad_enabled() and x.requires_grad
    if dim is None:
        return Max.apply(x) if grad else max_forward(x, None)[0]
    found: tuple[torch.Tensor, torch.Tensor] = MaxAlong.apply(x, dim) if grad else max_forward(x, dim)
    return torch.return_types.max(found)


def max_reference(x: torch.Tensor, dim: int | None = None) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """The same operation in plain PyTorch."""
    return torch.max(x) if dim is None else torch.max(x, dim)
