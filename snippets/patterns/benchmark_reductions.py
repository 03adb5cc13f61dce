"""Time the templates that read much and write little, beside PyTorch, on a matrix of 16384 x 16384.

The kernels are those of the templates, under names of their own.
"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark


@triton.jit
def timed_row_sum_kernel(x_ptr, out_ptr, row_stride, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n_columns
        x = tl.load(x_ptr + row * row_stride + columns, mask=mask, other=0.0)
        total += x.to(tl.float32)  # your reduction, lane by lane
    tl.store(out_ptr + row, tl.sum(total, axis=0))  # and across the lanes, once


def row_sum(x):
    x = x.contiguous()
    out = torch.empty(x.shape[0], device=x.device)
    timed_row_sum_kernel[(x.shape[0],)](x, out, x.stride(0), x.shape[1], BLOCK=2048)
    return out


@triton.jit
def timed_partial_sum_kernel(
    x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr, ATOMIC: tl.constexpr
):
    pid = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(pid * BLOCK, n_elements, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
        total += x.to(tl.float32)
    if ATOMIC:
        tl.atomic_add(out_ptr, tl.sum(total, axis=0))  # all programs into one number
    else:
        tl.store(out_ptr + pid, tl.sum(total, axis=0))  # each program into its own


def total_two_stage(x, programs=1024):
    partial = torch.empty(programs, device=x.device)
    timed_partial_sum_kernel[(programs,)](x, partial, x.numel(), BLOCK=2048, ATOMIC=False)
    out = torch.empty((), device=x.device)
    timed_partial_sum_kernel[(1,)](partial, out, programs, BLOCK=1024, ATOMIC=False)
    return out


def total_atomic(x, programs=1024):
    out = torch.zeros((), device=x.device)  # must start at zero
    timed_partial_sum_kernel[(programs,)](x, out, x.numel(), BLOCK=2048, ATOMIC=True)
    return out


@triton.jit
def timed_largest_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    largest = tl.full([BLOCK], -float("inf"), dtype=tl.float32)
    for start in range(pid * BLOCK, n_elements, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=-float("inf"))
        largest = tl.maximum(largest, x.to(tl.float32))
    tl.atomic_max(out_ptr, tl.max(largest, axis=0))


def largest(x, programs=1024):
    out = torch.full((), -float("inf"), device=x.device)
    timed_largest_kernel[(programs,)](x, out, x.numel(), BLOCK=2048)
    return out


@triton.jit
def timed_histogram_kernel(
    x_ptr, counts_ptr, n_elements,
    BINS: tl.constexpr, BLOCK: tl.constexpr, LOCAL: tl.constexpr,
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    bins = tl.minimum((x * BINS).to(tl.int32), BINS - 1)
    if LOCAL:
        counts = tl.histogram(bins, BINS, mask=mask)  # [BINS], within the program
        tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts)
    else:
        tl.atomic_add(counts_ptr + bins, 1, mask=mask)  # one for every element


def histogram(x, local=True):
    counts = torch.zeros(256, dtype=torch.int32, device=x.device)
    grid = (triton.cdiv(x.numel(), 4096),)
    sizes = {"BINS": 256, "BLOCK": 4096, "num_warps": 8}
    timed_histogram_kernel[grid](x, counts, x.numel(), LOCAL=local, **sizes)
    return counts


benchmark = Benchmark()
x = torch.rand(16384, 16384, device="cuda")
cases = {
    "row_sum": {"blockwise": lambda: row_sum(x), "eager": lambda: x.sum(dim=1)},
    "total": {
        "blockwise": lambda: total_two_stage(x),
        "atomic": lambda: total_atomic(x),
        "eager": lambda: x.sum(),
    },
    "largest": {"blockwise": lambda: largest(x), "eager": lambda: x.max()},
    "histogram": {
        "blockwise": lambda: histogram(x),
        "atomic": lambda: histogram(x, local=False),
        "eager": lambda: torch.histc(x, bins=256, min=0, max=1),
    },
}
for name, implementations in cases.items():
    benchmark.case(
        name, "fwd", "16384x16384", x.dtype, moved=x.nbytes, flops=None,
        implementations=implementations, expected=implementations["eager"]().double(),
    )
benchmark.finish()
