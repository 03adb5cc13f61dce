"""How a tensor is cut up for `kernels.sum` and `kernels.max`: which numbers meet in which program.

Whatever the tensor and the dimension, its numbers lie at

    outer * outer_stride + result * result_stride + term * term_stride

where all the terms of one (outer, result) become one number. A program owns a tile of BLOCK_M results by BLOCK_N terms
and walks along the terms. Where the results alone would leave the GPU idle, their terms are dealt out to several
programs, block by block: `parts` of them. Each leaves what it found in memory, and the last to finish reduces that.
"""

from typing import NamedTuple

import torch
import triton


class Plan(NamedTuple):
    """Where the terms of every result lie, and the tile that reduces them."""

    n_outer: int
    n_results: int
    n_terms: int
    strides: tuple[int, int, int]
    block_m: int
    block_n: int
    parts: int
    num_warps: int

    @property
    def programs(self) -> int:
        """How many programs there are in a part."""
        return self.n_outer * -(-self.n_results // self.block_m)


def flattened(x: torch.Tensor) -> torch.Tensor:
    """All elements of `x` in the order of memory where they lie without gaps, else a copy of them."""
    if not x.is_contiguous():
        x = x.permute(sorted(range(x.ndim), key=x.stride, reverse=True))
    return x.reshape(-1)


def collapsed(x: torch.Tensor, dim: int | None) -> tuple[torch.Tensor, int, int, int, tuple[int, int, int]]:
    """View `x` as outer, results and terms, copying only where the strides leave no other way; with their strides."""
    if dim is None or x.ndim < 2:
        x = flattened(x) if dim is None else x.reshape(-1)
        return x, 1, 1, x.shape[0], (0, 0, x.stride(0))
    if x.ndim > 3:
        # Neighboring dimensions become one.
        sizes, rest = (x.shape[dim], *x.shape[dim + 1 :]), x.shape[dim + 1 :].numel()
        x, dim = x.reshape(-1, sizes[0], rest), 1
    others = [other for other in range(x.ndim) if other != dim]
    if len(others) == 2 and x.stride(others[0]) == x.stride(others[1]) * x.shape[others[1]]:
        n_outer, n_results, outer_stride = 1, x.shape[others[0]] * x.shape[others[1]], 0
    elif len(others) == 2:
        n_outer, n_results, outer_stride = x.shape[others[0]], x.shape[others[1]], x.stride(others[0])
    else:
        n_outer, n_results, outer_stride = 1, x.shape[others[0]], 0
    return x, n_outer, n_results, x.shape[dim], (outer_stride, x.stride(others[-1]), x.stride(dim))


def reduction_plan(x: torch.Tensor, dim: int | None) -> tuple[torch.Tensor, Plan]:
    """The view of `x` that the kernels walk, and how. The numbers are what measured best on one GPU, an H200."""
    x, n_outer, n_results, n_terms, strides = collapsed(x, dim)
    length = max(16, triton.next_power_of_2(n_terms))
    if strides[2] <= strides[1] or n_results == 1:
        block_n = min(length, 4096)
        block_m = min(max(1, 1024 // block_n), triton.next_power_of_2(n_results))
        num_warps = 4
    else:
        block_m = min(triton.next_power_of_2(n_results), 128)
        block_n = min(length, 4096 // block_m)
        num_warps = 4
    programs = n_outer * -(-n_results // block_m)
    parts = max(1, min(1024 // programs, n_terms // (2 * block_n)))
    return x, Plan(n_outer, n_results, n_terms, strides, block_m, block_n, parts, num_warps)


SCRATCH: dict[tuple[int, int], torch.Tensor] = {}


def arrivals(x: torch.Tensor, count: int) -> torch.Tensor:
    """Counters that stand at zero, one for each group of programs that wait for the last of them.

    Every launch leaves its counters at zero, so the launches of one stream, which run one after another, share them.
    A launch that a CUDA graph records gets its own.
    """
    if x.device.type != "cuda" or torch.cuda.is_current_stream_capturing():
        return torch.zeros(count, dtype=torch.int32, device=x.device)
    key = (x.get_device(), torch.cuda.current_stream(x.device).cuda_stream)
    if key not in SCRATCH or SCRATCH[key].shape[0] < count:
        SCRATCH[key] = torch.zeros(max(count, 1024), dtype=torch.int32, device=x.device)
    return SCRATCH[key]
