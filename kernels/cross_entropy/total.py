"""What the kernels of `kernels.cross_entropy` share: how many targets count, and one sum made of every program's part.

A mean divides by the number of targets that are not ignored. Where a gradient is written, it must be known before, and is
counted first, by a few programs. The sum over the rows is made last, by whichever program arrives last; it adds the parts
up in the order of the programs, so the result does not depend on which one that is.
"""

import torch
import triton
import triton.language as tl

# exp(x) = exp2(x * LOG2_OF_E): a GPU's own exponential is of base two.
LOG2_OF_E = tl.constexpr(1.4426950408889634)
COUNTERS = tl.constexpr(32)
COUNTED_BLOCK = tl.constexpr(512)


@triton.jit
def cross_entropy_count_kernel(target_ptr, counts_ptr, n_rows, ignore_index):
    # This program counts every num_programs-th block of targets.
    pid = tl.program_id(0).to(tl.int64)
    count = tl.zeros([COUNTED_BLOCK], tl.int32)
    for start in range(pid * COUNTED_BLOCK, n_rows, tl.num_programs(0) * COUNTED_BLOCK):
        rows = start + tl.arange(0, COUNTED_BLOCK)  # [COUNTED_BLOCK]
        target = tl.load(target_ptr + rows, mask=rows < n_rows, other=ignore_index)
        count += (target != ignore_index).to(tl.int32)
    tl.store(counts_ptr + pid, tl.sum(count, axis=0))


def cross_entropy_count(target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    """Count the targets that count, in up to 32 parts."""
    n_rows = target.shape[0]
    counts = torch.empty(32, dtype=torch.int32, device=target.device)
    cross_entropy_count_kernel[(min(32, (n_rows + 511) // 512),)](target, counts, n_rows, ignore_index)
    return counts


@triton.jit
def cross_entropy_counted(counts_ptr, n_rows):
    """The number of targets that count, as a float."""
    counters = tl.arange(0, COUNTERS)  # [COUNTERS]
    counts = tl.load(counts_ptr + counters, mask=counters * COUNTED_BLOCK < n_rows, other=0)
    return tl.sum(counts, axis=0).to(tl.float32)


@triton.jit
def cross_entropy_finish(part, count, parts_ptr, arrived_ptr, loss_ptr, REDUCTION: tl.constexpr):
    """Store this program's part of the sum and how many rows it has. The program that arrives last adds all parts up."""
    BLOCK: tl.constexpr = 512  # more would take registers from all programs, for the end of the last one
    pid, n_parts = tl.program_id(0).to(tl.int64), tl.num_programs(0).to(tl.int64)
    tl.store(parts_ptr + pid, part)
    tl.store(parts_ptr + n_parts + pid, count.to(tl.float32))
    if tl.atomic_add(arrived_ptr, 1, sem="acq_rel") == n_parts - 1:
        total = tl.zeros([BLOCK], tl.float32)
        counted = tl.zeros([BLOCK], tl.float32)
        for start in range(0, n_parts, BLOCK):
            parts = start + tl.arange(0, BLOCK)  # [BLOCK]
            mask = parts < n_parts  # [BLOCK]
            total += tl.load(parts_ptr + parts, mask=mask, other=0.0, cache_modifier=".cg")
            counted += tl.load(parts_ptr + n_parts + parts, mask=mask, other=0.0, cache_modifier=".cg")
        loss = tl.sum(total, axis=0)
        if REDUCTION == "mean":
            loss /= tl.sum(counted, axis=0)
        tl.store(loss_ptr, loss)
        tl.store(arrived_ptr, 0)
