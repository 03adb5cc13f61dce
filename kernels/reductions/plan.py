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
        result_unit, term_unit = units(self.n_results, self.n_terms, self.strides)
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
    steps = (outer_stride, result_stride, term_stride)
    layout = (out, False, n_outer, n_results, n_terms, steps)
    result_unit, term_unit = units(n_results, n_terms, steps)  # one of them is 1
    return Plan(*layout, *tiles(n_outer, n_results, n_terms, near, result_unit * term_unit, indices))


def units(n_results: int, n_terms: int, strides: tuple[int, int, int]) -> tuple[int, int]:
    """What the sizes and strides share, up to 8, where the terms are neighbors in memory, and where the results are.

    Neighbors are loaded 16 bytes at a time if the compiler knows that all the rows begin where it can.
    """
    outer_stride, result_stride, term_stride = strides
    result_unit = gcd(outer_stride, result_stride, n_terms, 8) if term_stride == 1 else 1
    term_unit = gcd(outer_stride, term_stride, n_results, 8) if result_stride == 1 != term_stride else 1
    return result_unit, term_unit


def tiles(n_outer: int, n_results: int, n_terms: int, near: bool, unit: int, indices: bool) -> tuple[int, int, int, int, int]:
    """BLOCK_M, BLOCK_N, parts, warps and stages, where the terms are `near` each other in memory, or else the results.

    The numbers are what measured best on one GPU, an H200, at shapes that were drawn. Indices take registers, and so smaller
    blocks. Where `unit` is below 8, loads are narrow, and more of them have to be under way.
    """
    length, width = triton.next_power_of_2(n_terms), triton.next_power_of_2(n_results)
    rows = n_outer * n_results
    size, large = rows * n_terms, 2**26
    # The last program holds what all parts leave for its tile, at most so many numbers.
    num_warps, stages, wanted, room = 4, 1, 1024, 2048 if indices else 8192
    if not near:
        wide = n_results >= 256
        if n_terms <= 128:
            # All terms in one block: nothing to walk along, and no parts that meet.
            elements = 2048 if length <= 32 else 4096 if indices else 8192
            block_m, block_n, num_warps = min(elements // length, width), length, 2 if length <= 32 else 4
        elif unit < 8:
            if n_results >= 2048 and size >= 2**24:
                block_m, block_n = 64, 32
            else:
                block_m, block_n, wanted = min(16, width), 64, 1024 if indices else 2048
        elif wide and (size >= large or not indices):
            block_m, block_n = 64, 32 if indices else 64
            stages, wanted = (3, 512) if size >= large else (1, 1024)
        else:
            stages, wanted = (3, 512) if wide or size < 2**24 else (1, 1024)
            block_m, block_n = min(16, width), 256 if stages > 1 and not indices else 128
    elif n_terms <= 1024:
        block_m, block_n = min((1024 if indices or length > 512 else 2048) // length, width), length
        num_warps = 2 if indices and length <= 128 else 1 if indices or length <= 512 else 4
    elif indices and rows >= 2048:
        # Rows enough for programs of one warp, whose threads need not wait for other warps.
        block_m, block_n, num_warps = 1, 512, 1
    elif rows > 1 and length <= (8192 if indices else 4096):
        block_m, block_n, num_warps = 1, length, 8 if indices else 4
    elif size >= large:
        block_m, block_n, num_warps, stages = 1, 4096 if indices else 8192, 8, 3
    elif rows == 1:
        block_m, block_n, num_warps = (1, 2048, 4) if size < 2**21 else (1, 4096, 8)
    else:
        block_m, block_n, num_warps = (1, 1024, 1) if indices and unit == 1 else (1, 2048, 8)
    programs = n_outer * -(-n_results // block_m)
    parts = min(wanted // programs, n_terms // block_n, room // block_m, 1024) or 1
    return block_m, block_n, parts, num_warps, stages
