"""Matrix products for Hopper GPUs: tiles come through the tensor memory accelerator, warps specialize, programs persist.

The accelerator copies a whole tile into shared memory at one instruction of one thread, and counts its bytes. A descriptor
tells it where the matrix lies, so the kernel computes no addresses and needs no masks: what lies outside reads as zero.
One program a multiprocessor walks over many tiles. With SPECIALIZE its warps divide the work: some load the next tile
already while the others still multiply and store this one.
"""

from contextvars import copy_context
from typing import Any

import torch
import triton
import triton.language as tl

from kernels.arguments import INTERPRETED
from kernels.matmul_epilogue import Finish, matmul_activated, matmul_finished, matmul_tile


# --8<-- [start:kernel]
@triton.jit
def matmul_hopper_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    z_ptr,
    bias_ptr,
    scale_a_ptr,
    scale_b_ptr,
    M,
    N,
    K,
    a_stride,
    b_stride,
    c_stride,
    A_T: tl.constexpr,
    B_T: tl.constexpr,
    WIDEN: tl.constexpr,
    ROW_SCALES: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    SPECIALIZE: tl.constexpr,
    DESCRIPTOR_STORE: tl.constexpr,
):
    # This program owns every num_programs-th tile of c.
    if A_T:
        a_desc = tl.make_tensor_descriptor(a_ptr, [K, M], [a_stride, 1], [BLOCK_K, BLOCK_M])
    else:
        a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [a_stride, 1], [BLOCK_M, BLOCK_K])
    if B_T:
        b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [b_stride, 1], [BLOCK_N, BLOCK_K])
    else:
        b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [b_stride, 1], [BLOCK_K, BLOCK_N])
    if DESCRIPTOR_STORE:
        c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [c_stride, 1], [BLOCK_M, BLOCK_N])
    n_tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    first = tl.program_id(0).to(tl.int64)
    for tile in tl.range(first, n_tiles, tl.num_programs(0), warp_specialize=SPECIALIZE):
        pid_m, pid_n = matmul_tile(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        row, column = (pid_m * BLOCK_M).to(tl.int32), (pid_n * BLOCK_N).to(tl.int32)
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([k, row]).T if A_T else a_desc.load([row, k])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([column, k]).T if B_T else b_desc.load([k, column])  # [BLOCK_K, BLOCK_N]
            if WIDEN:
                a, b = a.to(tl.float32), b.to(tl.float32)
            total = tl.dot(a, b, total)
        rows = row + tl.arange(0, BLOCK_M)  # [BLOCK_M]
        columns = column + tl.arange(0, BLOCK_N)  # [BLOCK_N]
        mask = (rows < M)[:, None] & (columns < N)[None, :]  # [BLOCK_M, BLOCK_N]
        c_offsets = rows.to(tl.int64)[:, None] * c_stride + columns[None, :]
        total = matmul_finished(total, bias_ptr, scale_a_ptr, scale_b_ptr, rows, columns, M, N, ROW_SCALES)
        if z_ptr is not None:
            tl.store(z_ptr + c_offsets, total, mask=mask)
        total = matmul_activated(total, ACTIVATION)
        if DESCRIPTOR_STORE:
            c_desc.store([row, column], total.to(c_ptr.dtype.element_ty))
        else:
            tl.store(c_ptr + c_offsets, total.to(c_ptr.dtype.element_ty), mask=mask)
# --8<-- [end:kernel]


def hopper_scratch(size: int, alignment: int, stream: int | None) -> torch.Tensor:
    return torch.empty(size, dtype=torch.int8, device="cuda")


def hopper_launch(grid: tuple[int], arguments: tuple, options: dict) -> None:
    triton.set_allocator(hopper_scratch)  # for the descriptors, which a program makes in memory
    matmul_hopper_kernel[grid](*arguments, **options)


# --8<-- [start:launch]
def matmul_hopper(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Finish, precision: str, configuration: dict[str, int]
) -> torch.Tensor:
    (m, k), n = a.shape, b.shape[1]
    options: dict[str, Any] = dict(configuration)
    n_tiles = -(-m // options["BLOCK_M"]) * -(-n // options["BLOCK_N"])
    grid = (min(n_tiles, options.pop("programs")),)
    a_t, b_t = a.stride(1) != 1, b.stride(1) != 1
    strides = (a.stride(1) if a_t else a.stride(0), b.stride(1) if b_t else b.stride(0), c.stride(0))
    options |= {"A_T": a_t, "B_T": b_t, "WIDEN": INTERPRETED, **finish.constants}
    # In a context of its own, so that an allocator which the caller has set stays set.
    copy_context().run(hopper_launch, grid, (a, b, c, *finish[:4], m, n, k, *strides), options)
    return c
# --8<-- [end:launch]
