"""The product of every expert's rows with that expert's weight, in one launch.

    c[i] = sum_k a[row(i)] b[expert(i)][k]          or, with two weights,   silu(a b_gate) * (a b_up)

A tile of rows belongs to one expert, so it is a tile of an ordinary product whose b is found by a number in memory. Rows are
gathered where they are loaded, through the list of pairs, and scattered where they are stored, so no copy of x in another
order is ever made. Programs walk over the list of tiles, whose length is a number in memory too.
"""

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from kernels.activations.activation import activated
from kernels.common.arguments import INTERPRETED
from kernels.common.sizes import cdiv
from kernels.matmul.epilogue import matmul_tile
from kernels.matmul.hopper import descriptor
from kernels.moe.route import tiles_at_most


@triton.jit
def grouped_term(a, b, total, UPCAST: tl.constexpr, PRECISION: tl.constexpr):
    """total + a @ b in float32."""
    if UPCAST:
        a, b = a.to(tl.float32), b.to(tl.float32)
    return tl.dot(a, b, total, input_precision=PRECISION)


@triton.jit
def moe_product_kernel(
    a_ptr,
    b_ptr,
    up_ptr,
    c_ptr,
    a_desc,
    b_desc,
    up_desc,
    weight_ptr,
    pair_ptr,
    start_ptr,
    tile_ptr,
    n_experts,
    N,
    K,
    a_row_stride,
    a_column_stride,
    b_expert_stride,
    b_row_stride,
    b_column_stride,
    up_expert_stride,
    up_row_stride,
    up_column_stride,
    expert_rows,
    PAIRS: tl.constexpr,
    GATHER: tl.constexpr,
    SCATTER: tl.constexpr,
    WHOLE_K: tl.constexpr,
    UPCAST: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    # This program owns every num_programs-th tile of all experts' results.
    n_row_tiles = tl.load(start_ptr + n_experts + 1)
    n_tiles = n_row_tiles.to(tl.int64) * tl.cdiv(N, BLOCK_N)
    for tile in range(tl.program_id(0).to(tl.int64), n_tiles, tl.num_programs(0)):
        row_tile, column_tile = matmul_tile(tile, n_row_tiles * BLOCK_M, N, BLOCK_M, BLOCK_N, GROUP_M)
        expert = tl.load(tile_ptr + 2 * row_tile)
        first = tl.load(tile_ptr + 2 * row_tile + 1)
        places = first + tl.arange(0, BLOCK_M)  # [BLOCK_M]
        here = places < tl.load(start_ptr + expert + 1)
        rows = places
        if GATHER or SCATTER:
            pairs = tl.load(pair_ptr + places, mask=here, other=0)  # [BLOCK_M]
            if GATHER:
                rows = pairs // PAIRS
        column = (column_tile * BLOCK_N).to(tl.int32)
        columns = column + tl.arange(0, BLOCK_N)  # [BLOCK_N]
        inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
        a_ptrs = a_ptr + rows.to(tl.int64)[:, None] * a_row_stride + inner.to(tl.int64)[None, :] * a_column_stride
        wide = expert.to(tl.int64)
        b_offsets = inner.to(tl.int64)[:, None] * b_row_stride + columns.to(tl.int64)[None, :] * b_column_stride
        b_ptrs = b_ptr + wide * b_expert_stride + b_offsets  # [BLOCK_K, BLOCK_N]
        a_step, b_step = tl.cast(a_column_stride, tl.int64) * BLOCK_K, tl.cast(b_row_stride, tl.int64) * BLOCK_K
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        if up_ptr is not None:
            up_total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
            up_offsets = inner.to(tl.int64)[:, None] * up_row_stride + columns.to(tl.int64)[None, :] * up_column_stride
            up_ptrs = up_ptr + wide * up_expert_stride + up_offsets  # [BLOCK_K, BLOCK_N]
            up_step = tl.cast(up_row_stride, tl.int64) * BLOCK_K
        for k in range(0, K, BLOCK_K):
            a_mask, b_mask = here[:, None], (columns < N)[None, :]
            if not WHOLE_K:
                left = inner < K - k  # [BLOCK_K]
                a_mask, b_mask = a_mask & left[None, :], b_mask & left[:, None]
            if a_desc is not None:
                a = a_desc.load([first, k])  # with rows of the next expert, whose products are not stored
            else:
                a = tl.load(a_ptrs, mask=a_mask, other=0.0)
                a_ptrs += a_step
            if b_desc is not None:
                # The weights of all experts as one tall matrix; what is loaded of the next expert's is not stored.
                b = b_desc.load([expert * expert_rows + column, k]).T  # [BLOCK_K, BLOCK_N]
            else:
                b = tl.load(b_ptrs, mask=b_mask, other=0.0)
                b_ptrs += b_step
            total = grouped_term(a, b, total, UPCAST, PRECISION)
            if up_ptr is not None:
                if b_desc is not None:
                    up = up_desc.load([expert * expert_rows + column, k]).T
                else:
                    up = tl.load(up_ptrs, mask=b_mask, other=0.0)
                    up_ptrs += up_step
                up_total = grouped_term(a, up, up_total, UPCAST, PRECISION)
        if up_ptr is not None:
            total = activated(total, "silu") * up_total
        if weight_ptr is not None:
            total *= tl.load(weight_ptr + pairs, mask=here, other=0.0)[:, None]
        if SCATTER:
            places = pairs
        c_ptrs = c_ptr + places.to(tl.int64)[:, None] * N + columns[None, :]  # [BLOCK_M, BLOCK_N]
        tl.store(c_ptrs, total, mask=here[:, None] & (columns < N)[None, :])


class Groups(NamedTuple):
    """Rows that are sorted by their group: where each stands among the pairs, and the tiles of rows of BLOCK_M."""

    pairs: torch.Tensor
    starts: torch.Tensor
    tiles: torch.Tensor
    k: int


def stacked(b: torch.Tensor) -> torch.Tensor | None:
    """All experts' weights, (experts, n, k), one below the other as one matrix, if a descriptor can load it."""
    experts, n, k = b.shape
    over, row, column = b.stride()
    step = 16 // b.element_size()
    if column != 1 or row < k or row % step or over % max(row, 1) or over // row < n or b.data_ptr() % 16:
        return None
    return b.as_strided(((experts - 1) * (over // row) + n, k), (row, 1))


def grouped_product(
    a: torch.Tensor,
    b: torch.Tensor,
    up: torch.Tensor | None,
    c: torch.Tensor,
    weights: torch.Tensor | None,
    groups: Groups,
    precision: str,
    gather: bool,
    scatter: bool,
    configuration: dict[str, int],
) -> None:
    """Write every group's rows of `a` times its matrix of `b`, of shape (groups, n, k), to the contiguous matrix `c`."""
    options: dict[str, Any] = dict(configuration)
    n_experts, n, k = b.shape
    most = tiles_at_most(groups.pairs.numel(), n_experts, options["BLOCK_M"]) * cdiv(n, options["BLOCK_N"])
    grid = (min(most, options.pop("programs")),)
    a_desc = b_desc = up_desc = None
    expert_rows, block = 0, (options["BLOCK_N"], options["BLOCK_K"])
    described = options.pop("DESCRIPTORS")
    if described and not gather and a.stride(1) == 1 and a.stride(0) * a.element_size() % 16 == 0 == a.data_ptr() % 16:
        a_desc = descriptor(a, options["BLOCK_M"], options["BLOCK_K"])
    if described and (up is None or up.stride() == b.stride()):
        tall, tall_up = stacked(b), None if up is None else stacked(up)
        if tall is not None and (up is None or tall_up is not None):
            expert_rows, b_desc = b.stride(0) // b.stride(1), descriptor(tall, *block)
            up_desc = None if tall_up is None else descriptor(tall_up, *block)
    # A weight of shape (n, k) is a matrix of k rows and n columns that is stored by columns.
    up_strides = (0, 0, 0) if up is None else (up.stride(0), up.stride(2), up.stride(1))
    strides = (*a.stride(), b.stride(0), b.stride(2), b.stride(1), *up_strides, expert_rows)
    constants = {"PAIRS": groups.k, "GATHER": gather, "SCATTER": scatter, "PRECISION": precision}
    constants |= {"WHOLE_K": k % options["BLOCK_K"] == 0, "UPCAST": INTERPRETED and a.element_size() < 4}
    lists = (groups.pairs, groups.starts, groups.tiles, n_experts)
    moe_product_kernel[grid](a, b, up, c, a_desc, b_desc, up_desc, weights, *lists, n, k, *strides, **constants, **options)
