"""Matrix products on Hopper GPUs where one matrix is narrow, or the tiles of c are few and their sums long.

Such a product reads one large matrix once, and the memory sets its time. The tensor cores of Hopper multiply 64 rows or more
at a time, by as few as 8 columns. So the wide matrix gives the rows, whichever of the two it is, and of the narrow one no
more columns are multiplied than there are. For a narrow a that means c transposed: each tile is turned at the end.

With several programs a tile, each sums one stretch of the inner dimension and leaves its partial sums in memory. Where a tile's
are few, the last program to finish adds them up. Where they are many, one program would be long about it while the others
idle: there a second launch adds them, with programs enough for the whole GPU. Both add in a fixed order, so the same input
gives the same bits every time.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from kernels.common.arguments import INTERPRETED
from kernels.common.counters import arrival_counters, shared_key, workspace
from kernels.common.sizes import next_power_of_2
from kernels.matmul.epilogue import (
    Epilogue,
    Launch,
    descriptor_factory,
    known_step,
    matmul_activated,
    matmul_finished,
    matmul_known,
)
from kernels.matmul.hopper import descriptor


# --8<-- [start:kernel]
@triton.jit
def matmul_narrow_finish(
    total, c_ptr, z_ptr, bias_ptr, scale_a_ptr, scale_b_ptr, wide_places, narrow_places, M, N, c_stride,
    N_STEP: tl.constexpr, TRANSPOSED: tl.constexpr, ROW_SCALES: tl.constexpr, ACTIVATION: tl.constexpr,
):
    """Finish sums and store them; [wide, narrow] places are [rows, columns] of c, or the other way round if TRANSPOSED."""
    N, c_stride = matmul_known(N, N_STEP), matmul_known(c_stride, N_STEP)
    rows, columns = (narrow_places, wide_places) if TRANSPOSED else (wide_places, narrow_places)
    c = total.T if TRANSPOSED else total  # [rows, columns]
    c = matmul_finished(c, bias_ptr, scale_a_ptr, scale_b_ptr, rows, columns, M, N, ROW_SCALES)
    offsets = rows.to(tl.int64)[:, None] * c_stride + columns[None, :]
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    if z_ptr is not None:
        tl.store(z_ptr + offsets, c, mask=mask)
    tl.store(c_ptr + offsets, matmul_activated(c, ACTIVATION), mask=mask)


@triton.jit
def matmul_narrow_kernel(
    wide_desc,
    narrow_desc,
    c_ptr,
    z_ptr,
    bias_ptr,
    scale_a_ptr,
    scale_b_ptr,
    partial_ptr,
    arrived_ptr,
    M,
    N,
    K,
    c_stride,
    part_blocks,
    N_STEP: tl.constexpr,
    WIDE_T: tl.constexpr,
    NARROW_T: tl.constexpr,
    TRANSPOSED: tl.constexpr,
    UPCAST: tl.constexpr,
    ROW_SCALES: tl.constexpr,
    ACTIVATION: tl.constexpr,
    WIDE: tl.constexpr,
    NARROW: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PARTS: tl.constexpr,
):
    # This program owns one tile, and of its inner dimension part_blocks blocks.
    tile, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    n_narrow = tl.cdiv(M if TRANSPOSED else N, NARROW)
    wide, narrow = (tile // n_narrow * WIDE).to(tl.int32), (tile % n_narrow * NARROW).to(tl.int32)
    start = (part * part_blocks * BLOCK_K).to(tl.int32)
    stop = tl.minimum(start + part_blocks * BLOCK_K, K)
    total = tl.zeros((WIDE, NARROW), tl.float32)
    for k in range(start, stop, BLOCK_K):
        x = wide_desc.load([k, wide]).T if WIDE_T else wide_desc.load([wide, k])  # [WIDE, BLOCK_K]
        y = narrow_desc.load([narrow, k]).T if NARROW_T else narrow_desc.load([k, narrow])  # [BLOCK_K, NARROW]
        if UPCAST:
            x, y = x.to(tl.float32), y.to(tl.float32)
        total = tl.dot(x, y, total)
    last = True
    if PARTS > 1:
        # The partial sums are laid out as [PARTS, tiles, WIDE, NARROW].
        n_tiles = tl.num_programs(0).to(tl.int64)
        places = tl.arange(0, WIDE)[:, None] * NARROW + tl.arange(0, NARROW)[None, :]  # [WIDE, NARROW]
        partial_ptrs = partial_ptr + tile * (WIDE * NARROW) + places  # [WIDE, NARROW]
        tl.store(partial_ptrs + part * n_tiles * (WIDE * NARROW), total)
        last = False  # a second launch finishes
        if arrived_ptr is not None:
            tl.debug_barrier()  # all of the tile is stored before this program reports
            last = tl.atomic_add(arrived_ptr + tile, 1, sem="acq_rel") == PARTS - 1
            if last:
                # This program is the last. It adds up what all have left, in their fixed order.
                total = tl.zeros((WIDE, NARROW), tl.float32)
                for _ in tl.static_range(PARTS):
                    total += tl.load(partial_ptrs, cache_modifier=".cg")
                    partial_ptrs += n_tiles * (WIDE * NARROW)
                tl.store(arrived_ptr + tile, 0)
    if last:
        matmul_narrow_finish(
            total, c_ptr, z_ptr, bias_ptr, scale_a_ptr, scale_b_ptr, wide + tl.arange(0, WIDE), narrow + tl.arange(0, NARROW),
            M, N, c_stride, N_STEP, TRANSPOSED, ROW_SCALES, ACTIVATION,
        )


@triton.jit
def matmul_parts_kernel(
    partial_ptr,
    c_ptr,
    z_ptr,
    bias_ptr,
    scale_a_ptr,
    scale_b_ptr,
    M,
    N,
    c_stride,
    n_parts,
    N_STEP: tl.constexpr,
    TRANSPOSED: tl.constexpr,
    ROW_SCALES: tl.constexpr,
    ACTIVATION: tl.constexpr,
    WIDE: tl.constexpr,
    NARROW: tl.constexpr,
    ROWS: tl.constexpr,
    PARTS: tl.constexpr,
):
    # This program owns ROWS rows of one tile, and adds up all of their partial sums.
    slices: tl.constexpr = WIDE // ROWS
    program = tl.program_id(0).to(tl.int64)
    tile, first = program // slices, (program % slices * ROWS).to(tl.int32)
    n_narrow = tl.cdiv(M if TRANSPOSED else N, NARROW)
    wide, narrow = (tile // n_narrow * WIDE).to(tl.int32), (tile % n_narrow * NARROW).to(tl.int32)
    # The partial sums are laid out as [n_parts, tiles, WIDE, NARROW].
    parts = tl.arange(0, PARTS)[:, None, None]  # [PARTS, 1, 1]
    places = (first + tl.arange(0, ROWS)[:, None]) * NARROW + tl.arange(0, NARROW)[None, :]  # [ROWS, NARROW]
    tiles = parts * (tl.num_programs(0) // slices) + tile  # [PARTS, 1, 1]
    partial = tl.load(partial_ptr + tiles * (WIDE * NARROW) + places[None, :, :], mask=parts < n_parts, other=0.0)
    matmul_narrow_finish(
        tl.sum(partial, axis=0), c_ptr, z_ptr, bias_ptr, scale_a_ptr, scale_b_ptr, wide + first + tl.arange(0, ROWS),
        narrow + tl.arange(0, NARROW), M, N, c_stride, N_STEP, TRANSPOSED, ROW_SCALES, ACTIVATION,
    )
# --8<-- [end:kernel]


# --8<-- [start:launch]
# From so many partial sums of a tile on, a second launch costs less than one program that adds them all.
MANY_SUMS = 2**15


def matmul_narrow(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue, precision: str, configuration: dict[str, int]
) -> Launch:
    """The launch for matrices of these shapes and strides, to be called with them."""
    (m, k), n = a.shape, b.shape[1]
    options: dict[str, Any] = dict(configuration)
    turned = m < n
    wide, narrow = (b.t(), a.t()) if turned else (a, b)
    block_k, n_blocks = options["BLOCK_K"], -(-k // options["BLOCK_K"])
    part_blocks = -(-n_blocks // options.pop("parts"))
    n_tiles = -(-wide.shape[0] // options["WIDE"]) * -(-narrow.shape[1] // options["NARROW"])
    grid = (n_tiles, -(-n_blocks // part_blocks))
    tile = options["WIDE"] * options["NARROW"]
    options |= {"WIDE_T": wide.stride(1) != 1, "NARROW_T": narrow.stride(1) != 1, "TRANSPOSED": turned, "PARTS": grid[1]}
    options |= {"N_STEP": known_step(n, c.stride(0)), "UPCAST": INTERPRETED, **finish.constants}
    sizes, run = (m, n, k, c.stride(0), part_blocks), matmul_narrow_kernel[grid]
    of_wide = descriptor_factory(descriptor(wide, options["WIDE"], block_k))
    of_narrow = descriptor_factory(descriptor(narrow, block_k, options["NARROW"]))

    def launch(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue) -> None:
        descriptors = (of_wide(b), of_narrow(a)) if turned else (of_wide(a), of_narrow(b))
        many = grid[1] * tile >= MANY_SUMS
        partial = arrived = None
        if grid[1] > 1:
            key = shared_key(a)
            partial = workspace(a, grid[0] * grid[1] * tile, key)
            arrived = None if many else arrival_counters(a, n_tiles, key)
        run(*descriptors, c, *finish[:4], partial, arrived, *sizes, **options)
        if partial is not None and many:
            matmul_parts(partial, c, finish, *grid, turned, options["WIDE"], options["NARROW"])

    return launch


def matmul_parts(partial, c, finish: Epilogue, n_tiles: int, n_parts: int, turned: bool, wide: int, narrow: int) -> None:
    parts = next_power_of_2(n_parts)
    rows, num_warps = max(1, 128 // narrow), 1 if parts <= 32 else 4 if parts <= 128 else 8
    meta = {"TRANSPOSED": turned, "WIDE": wide, "NARROW": narrow, "ROWS": rows, "PARTS": parts, "num_warps": num_warps}
    meta["N_STEP"] = known_step(c.shape[1], c.stride(0))
    sizes = (*c.shape, c.stride(0), n_parts)
    matmul_parts_kernel[(n_tiles * (wide // rows),)](partial, c, *finish[:4], *sizes, **finish.constants, **meta)
# --8<-- [end:launch]
