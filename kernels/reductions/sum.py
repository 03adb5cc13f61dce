"""Sums: of everything, or along one dimension.

    y[i] = sum_j x[i, j]

For n elements of e bytes the kernel reads ne bytes and does n additions; what it writes is small beside that, so the
memory sets the time. The additions happen in an order that depends on the shape alone: the same input gives the same
bits every time. `kernels.reductions.plan` says which program adds what.
"""

import torch
import triton
import triton.language as tl

from kernels.common.arguments import check_dim, check_float_tensor, on_device_of
from kernels.common.counters import arrival_counters, shared_key, workspace
from kernels.reductions.plan import Plan, reduction_plan


# --8<-- [start:kernel]
@triton.jit
def sum_kernel(
    x_ptr,
    y_ptr,
    partial_ptr,
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
    # The block at the end, which is not whole, falls to the first part; the others find nothing there.
    whole, end = 0, 0
    if not ONE_BLOCK:
        whole = n_terms // BLOCK_N
        end = (whole + part) * BLOCK_N
    end_mask = mask[:, None] & (terms < n_terms - end)[None, :]  # [BLOCK_M, BLOCK_N]
    end_ptrs = x_ptrs + end * term_stride * TERM_UNIT
    total = tl.load(end_ptrs, mask=end_mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
    if not ONE_BLOCK:
        for block in tl.range(part, whole, n_parts, num_stages=STAGES):
            x_block_ptrs = x_ptrs + block * BLOCK_N * term_stride * TERM_UNIT
            x = tl.load(x_block_ptrs, mask=mask[:, None], other=0.0, eviction_policy="evict_first")
            total += x.to(tl.float32)
    y = tl.sum(total, axis=1)  # [BLOCK_M]
    y_offsets = outer * n_results + results  # [BLOCK_M]
    if PARTS == 1:
        tl.store(y_ptr + y_offsets, y, mask=mask)
    else:
        # What the parts find is laid out as [parts, programs, BLOCK_M].
        row = tl.num_programs(0).to(tl.int64) * BLOCK_M
        places = program * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
        tl.store(partial_ptr + part * row + places, y)
        tl.debug_barrier()  # all of the block is stored before this program reports
        if tl.atomic_add(arrived_ptr + program, 1, sem="acq_rel") == n_parts - 1:
            # This program is the last. It adds up what all have left, in their fixed order.
            parts = tl.arange(0, PARTS)[None, :]  # [1, PARTS]
            partial_ptrs = partial_ptr + parts * row + places[:, None]  # [BLOCK_M, PARTS]
            partial = tl.load(partial_ptrs, mask=parts < n_parts, other=0.0, cache_modifier=".cg")
            tl.store(y_ptr + y_offsets, tl.sum(partial, axis=1), mask=mask)
            tl.store(arrived_ptr + program, 0)
# --8<-- [end:kernel]


def sum_planned(x: torch.Tensor, y: torch.Tensor, plan: Plan) -> torch.Tensor:
    partial = arrived = y
    if plan.parts > 1:
        key = shared_key(x)
        partial, arrived = workspace(x, plan.scratch, key), arrival_counters(x, plan.programs, key)
    sum_kernel[plan.grid](x, y, partial, arrived, *plan.sizes, **plan.meta)
    return y


def sum_forward(x: torch.Tensor, dim: int | None) -> torch.Tensor:
    if x.numel() == 0:
        return x.sum(dim)
    x = x.resolve_neg()
    plan = reduction_plan(x.shape, x.stride(), dim)
    y = x.new_empty(plan.shape)
    with on_device_of(x):
        return sum_planned(x.contiguous() if plan.copy else x, y, plan)


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        ctx.shape, ctx.dim = x.shape, dim
        return sum_forward(x, dim)

    @staticmethod
    def backward(ctx, dy):
        # Every term has the gradient of its sum: a view, which takes no memory and no time.
        dy = dy if ctx.dim is None or not ctx.shape else dy.unsqueeze(ctx.dim)
        return dy.expand(ctx.shape), None


def sum(x: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    """Add up all elements of `x`, or those along one dimension, as `torch.sum` does.

    Example:
        ```python
        import torch
        import kernels

        device = "cuda" if torch.cuda.is_available() else "cpu"
        x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device)
        print(kernels.sum(x).item(), kernels.sum(x, dim=1).tolist())
        #> 21.0 [6.0, 15.0]
        ```

    Args:
        x: A tensor of any shape and strides; float32, float16 or bfloat16.
        dim: The dimension to sum over, from `-x.ndim` to `x.ndim - 1`, or None for all of them.

    Returns:
        A tensor of the dtype of `x`: without dimensions, or of the shape of `x` without `dim`. The sums are computed in
            float32 and rounded once. Sums of nothing are zero. The same input gives the same bits every time.

    Raises:
        TypeError: `x` is not a tensor or has another dtype (an integer tensor, for example), or `dim` is neither int nor None.
        ValueError: `dim` is out of range, or a CPU tensor came while Triton's interpreter is off.

    Differentiable, any number of times. The gradient is a view of the incoming one, as in PyTorch.

    Bytes:
        For n elements of e bytes, ne read. Any dimension is summed where it lies, without a copy. Only where what
        remains has more than two strides, or everything is summed and has more than one, `x` is copied first.

    Flops:
        n additions.

    Source:
        The definition; M. Harris, "Optimizing parallel reduction in CUDA", 2007, for sums over many programs.
    """
    check_float_tensor("x", x)
    if dim is not None:
        dim = check_dim("dim", dim, x)
    if torch.is_grad_enabled() and x.requires_grad:
        return Sum.apply(x, dim)
    return sum_forward(x, dim)


def sum_reference(x: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    """The same operation in plain PyTorch."""
    return x.float().sum(dim).to(x.dtype)
