"""Partial sums of dweight and dbias: room for one of each a program, and the small kernel that adds them.

Every program of a backward pass writes one row of partial sums, in float32. Here they are added down the columns, in one order,
and rounded once.
"""

import functools

import torch
import triton
import triton.language as tl


# --8<-- [start:partials]
@triton.jit
def norm_add_columns(partials_ptr, sums_ptr, n_partials, n_columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for first in range(0, n_partials, ROWS):
        rows = first + tl.arange(0, ROWS)[:, None]  # [ROWS, 1]
        mask = (rows < n_partials) & (columns < n_columns)[None, :]  # [ROWS, BLOCK]
        total += tl.load(partials_ptr + rows * n_columns + columns[None, :], mask=mask, other=0.0)
    tl.store(sums_ptr + columns, tl.sum(total, axis=0), mask=columns < n_columns)


@triton.jit
def norm_partials_kernel(
    dweight_partials_ptr,
    dbias_partials_ptr,
    dweight_ptr,
    dbias_ptr,
    n_partials,
    n_columns,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # This program owns BLOCK columns of one of the two gradients, and adds its partial sums, ROWS at a time.
    if tl.program_id(1).to(tl.int64) == 0:
        if dweight_ptr is not None:
            norm_add_columns(dweight_partials_ptr, dweight_ptr, n_partials, n_columns, ROWS, BLOCK)
    else:
        if dbias_ptr is not None:
            norm_add_columns(dbias_partials_ptr, dbias_ptr, n_partials, n_columns, ROWS, BLOCK)
# --8<-- [end:partials]


@functools.cache
def norm_device(device: torch.device) -> tuple[int, int]:
    """A GPU's multiprocessors, and the bytes of shared memory that a program may take there."""
    if device.type != "cuda":
        return 3, 2**17  # few enough multiprocessors that a program takes several rows here, too
    properties = torch.cuda.get_device_properties(device)
    # What a program may take without asking for more, where PyTorch does not tell the most.
    shared = getattr(properties, "shared_memory_per_block_optin", properties.shared_memory_per_block)
    return properties.multi_processor_count, shared


def norm_partials(dtypes: tuple, n_partials: int, n_columns: int, device: torch.device) -> list[torch.Tensor | None]:
    """Room for the partial sums of dweight and of dbias; None for one without a dtype."""
    n = n_partials * n_columns  # in one dimension, which takes the host less time than two
    return [None if dtype is None else torch.empty(n, dtype=torch.float32, device=device) for dtype in dtypes]


def norm_sums(dtypes: tuple, n_columns: int, device: torch.device) -> list[torch.Tensor | None]:
    """Room for dweight and dbias; None for one without a dtype."""
    return [None if dtype is None else torch.empty(n_columns, dtype=dtype, device=device) for dtype in dtypes]


def norm_add_partials(partials: list, dtypes: tuple, n_partials: int, n_columns: int, device: torch.device) -> list:
    """Add the partial sums of dweight and of dbias; None for one without a dtype."""
    sums = norm_sums(dtypes, n_columns, device)
    block = 32 if n_columns <= 4096 else 64 if n_columns <= 8192 else 128
    grid = ((n_columns + block - 1) // block, 1 if dtypes[1] is None else 2)
    if any(dtypes):
        norm_partials_kernel[grid](*partials, *sums, n_partials, n_columns, ROWS=2048 // block, BLOCK=block, num_warps=4)
    return sums
