"""How a tensor is cut up for `kernels.sum` and `kernels.max`: which numbers meet in which program.

Whatever the tensor and the dimension, its numbers lie at

    outer * outer_stride + result * result_stride + term * term_stride

where all the terms of one (outer, result) become one number. A program owns a tile of BLOCK_M results by BLOCK_N terms
and walks along the terms. Where the results alone would leave the GPU idle, their terms are dealt out to several
programs, block by block: `parts` of them. Each leaves what it found in memory, and the last to finish reduces that.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import gcd
from typing import Any

import torch
import triton


@dataclass(frozen=True)
class Plan:
    """Where the terms of every result lie, and the tiles that reduce them."""

    shape: tuple[int, ...]  # of what comes out
    copy: bool  # whether the strides leave no way but a copy
    n_outer: int
    n_results: int
    n_terms: int
    strides: tuple[int, int, int]  # of outer, results and terms
    block_m: int
    block_n: int
    parts: int
    num_warps: int
    stages: int
    # What follows from these: programs a part, numbers that the parts leave, and the launch.
    programs: int = field(init=False)
    scratch: int = field(init=False)
    grid: tuple[int, int] = field(init=False)
    sizes: tuple[int, ...] = field(init=False)
    meta: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        programs = self.n_outer * -(-self.n_results // self.block_m)
        outer_stride, result_stride, term_stride = self.strides
        # What lies side by side is loaded 16 bytes at a time if the compiler knows that all the rows begin where it can.
        result_unit = gcd(outer_stride, result_stride, self.n_terms, 8) if term_stride == 1 else 1
        term_unit = gcd(outer_stride, term_stride, self.n_results, 8) if result_stride == 1 != term_stride else 1
        strides = outer_stride // (result_unit * term_unit), result_stride // result_unit, term_stride // term_unit
        meta = {"OUTER": self.n_outer > 1, "BLOCK_M": self.block_m, "BLOCK_N": self.block_n}
        meta |= {"PARTS": triton.next_power_of_2(self.parts), "STAGES": self.stages}
        meta |= {"RESULT_UNIT": result_unit, "TERM_UNIT": term_unit}
        meta |= {"ONE_BLOCK": self.parts == 1 and self.n_terms <= self.block_n, "num_warps": self.num_warps}
        found = {
            "programs": programs,
            "scratch": self.parts * programs * self.block_m,
            "grid": (programs, self.parts),
            "sizes": (*strides, self.n_results // term_unit, self.n_terms // result_unit, self.parts),
            "meta": meta,
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)


Extents = list[tuple[int, int]]


def merged(dims: Extents) -> Extents:
    """Dimensions as pairs of size and stride, neighbors made one where a single stride serves both."""
    found: Extents = []
    for size, stride in dims:
        if found and found[-1][1] == size * stride:
            found[-1] = (found[-1][0] * size, stride)
        elif size != 1:
            found.append((size, stride))
    return found


def nearest(dims: Extents) -> Extents:
    """The same elements in the order of memory, for whoever does not mind in which order they come."""
    return merged(sorted(dims, key=lambda pair: -pair[1]))


@lru_cache(maxsize=4096)
def reduction_plan(shape: tuple[int, ...], strides: tuple[int, ...], dim: int | None, indices: bool = False) -> Plan:
    """How to reduce a tensor that is not empty."""
    dims = list(zip(shape, strides, strict=True))
    out: tuple[int, ...] = ()
    results: Extents = []
    if dim is None or not dims:
        terms = nearest(dims) or [(1, 1)]
    else:
        out, results = shape[:dim] + shape[dim + 1 :], merged(dims[:dim] + dims[dim + 1 :])
        terms = [dims[dim]]
    if len(terms) > 1 or len(results) > 2:
        contiguous = torch.empty(shape, device="meta").stride()
        return replace(reduction_plan(shape, contiguous, dim, indices), copy=True)
    (n_outer, outer_stride), (n_results, result_stride) = [(1, 0)] * (2 - len(results)) + results
    n_terms, term_stride = terms[0]
    near = n_results == 1 or term_stride <= result_stride
    layout = (out, False, n_outer, n_results, n_terms, (outer_stride, result_stride, term_stride))
    return Plan(*layout, *tiles(n_outer, n_results, n_terms, near, indices))


def tiles(n_outer: int, n_results: int, n_terms: int, near: bool, indices: bool) -> tuple[int, int, int, int, int]:
    """BLOCK_M, BLOCK_N, parts, warps and stages, where the terms are `near` each other in memory, or else the results.

    The numbers are what measured best on one GPU, an H200. Indices take registers, and so smaller blocks.
    """
    length, width = triton.next_power_of_2(n_terms), triton.next_power_of_2(n_results)
    rows = n_outer * n_results
    # The last program holds what all parts leave for its tile, at most so many numbers.
    num_warps, stages, room = 4, 1, 2048 if indices else 8192
    if not near:
        if n_terms <= 128:
            # All terms in one block: nothing to walk along, and no parts that meet.
            block_m, block_n = min(width, 1024 // length if length <= 32 else 32), length
        elif n_results >= 256 and rows * n_terms >= 2**27:
            block_m, block_n, stages = 64, 32 if indices else 64, 3
        else:
            block_m, block_n = min(width, 32 if n_results >= 256 else 16), 64 if n_results >= 256 else 128
        wanted = 512 if stages > 1 else 2048
    elif n_terms <= 1024:
        block_m, block_n = min((1024 if indices or length > 512 else 2048) // length, width), length
        num_warps, wanted = 1 if indices or length <= 512 else 4, 0
    elif rows * n_terms >= 2**27:
        block_m, block_n, num_warps, stages, wanted = 1, 4096 if indices else 8192, 8, 3, 1024
    elif rows == 1:
        block_m, block_n, wanted = 1, 2048, 2048
    else:
        block_m, block_n, wanted = 1, 2048 if indices else 4096, 1024
    programs = n_outer * -(-n_results // block_m)
    parts = min(wanted // programs, n_terms // block_n, room // block_m, 1024) or 1
    return block_m, block_n, parts, num_warps, stages
