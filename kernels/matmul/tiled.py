"""The matrix product for every GPU: one program a tile of c, tiles of a and b by pointers, whatever the strides.

A program of BLOCK_M by BLOCK_N reads BLOCK_M + BLOCK_N numbers for every BLOCK_M * BLOCK_N products, so large tiles mean
little traffic. What lies outside a or b reads as zero, which adds nothing to a sum.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from kernels.common.arguments import INTERPRETED
from kernels.matmul.epilogue import (
    Epilogue,
    Launch,
    known_step,
    matmul_activated,
    matmul_finished,
    matmul_known,
    matmul_tile,
)


# --8<-- [start:sums]
@triton.jit
def matmul_sums(
    a_ptr,
    b_ptr,
    rows,
    columns,
    start,
    stop,
    M,
    N,
    K,
    a_row_stride,
    a_column_stride,
    b_row_stride,
    b_column_stride,
    A_T: tl.constexpr,
    B_T: tl.constexpr,
    A_STEP: tl.constexpr,
    B_STEP: tl.constexpr,
    WHOLE_K: tl.constexpr,
    UPCAST: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """The sums of one tile over the inner dimension from start to stop."""
    # The lines of a are its columns if A_T; A_STEP divides their length, and the way from each to the next. So it is for b.
    if A_T:
        M, a_column_stride = matmul_known(M, A_STEP), matmul_known(a_column_stride, A_STEP)
    else:
        K, a_row_stride = matmul_known(K, A_STEP), matmul_known(a_row_stride, A_STEP)
    if B_T:
        K, b_column_stride = matmul_known(K, B_STEP), matmul_known(b_column_stride, B_STEP)
    else:
        N, b_row_stride = matmul_known(N, B_STEP), matmul_known(b_row_stride, B_STEP)
    inner = tl.arange(0, BLOCK_K)  # [BLOCK_K]
    first = (start + inner).to(tl.int64)  # [BLOCK_K]
    a_ptrs = a_ptr + rows[:, None] * a_row_stride + first[None, :] * a_column_stride  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + first[:, None] * b_row_stride + columns[None, :] * b_column_stride  # [BLOCK_K, BLOCK_N]
    a_step, b_step = tl.cast(a_column_stride, tl.int64) * BLOCK_K, tl.cast(b_row_stride, tl.int64) * BLOCK_K
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(start, stop, BLOCK_K):
        a_mask, b_mask = (rows < M)[:, None], (columns < N)[None, :]
        if not WHOLE_K:
            left = inner < K - k  # [BLOCK_K]
            a_mask, b_mask = a_mask & left[None, :], b_mask & left[:, None]
        a = tl.load(a_ptrs, mask=a_mask, other=0.0)
        b = tl.load(b_ptrs, mask=b_mask, other=0.0)
        if UPCAST:
            a, b = a.to(tl.float32), b.to(tl.float32)
        if PRECISION == "ieee" and a.dtype == tl.float32:
            # Each block is summed from zero, as an fma that the compiler leaves in place: fewer roundings a term.
            total = tl.fma(tl.dot(a, b, input_precision=PRECISION), 1.0, total)
        else:
            total = tl.dot(a, b, total, input_precision=PRECISION)
        a_ptrs += a_step
        b_ptrs += b_step
    return total
# --8<-- [end:sums]


# --8<-- [start:kernel]
@triton.jit
def matmul_tiled_kernel(
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
    a_row_stride,
    a_column_stride,
    b_row_stride,
    b_column_stride,
    c_stride,
    N_STEP: tl.constexpr,
    A_T: tl.constexpr,
    B_T: tl.constexpr,
    A_STEP: tl.constexpr,
    B_STEP: tl.constexpr,
    WHOLE_K: tl.constexpr,
    UPCAST: tl.constexpr,
    PRECISION: tl.constexpr,
    ROW_SCALES: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    # This program owns one tile of c, BLOCK_M by BLOCK_N.
    N, c_stride = matmul_known(N, N_STEP), matmul_known(c_stride, N_STEP)
    tile = tl.program_id(0).to(tl.int64)
    pid_m, pid_n = matmul_tile(tile, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    total = matmul_sums(
        a_ptr, b_ptr, rows, columns, 0, K, M, N, K, a_row_stride, a_column_stride, b_row_stride, b_column_stride,
        A_T, B_T, A_STEP, B_STEP, WHOLE_K, UPCAST, PRECISION, BLOCK_M, BLOCK_N, BLOCK_K,
    )  # [BLOCK_M, BLOCK_N]
    total = matmul_finished(total, bias_ptr, scale_a_ptr, scale_b_ptr, rows, columns, M, N, ROW_SCALES)
    c_offsets = rows[:, None] * c_stride + columns[None, :]  # [BLOCK_M, BLOCK_N]
    mask = (rows < M)[:, None] & (columns < N)[None, :]  # [BLOCK_M, BLOCK_N]
    if z_ptr is not None:
        tl.store(z_ptr + c_offsets, total, mask=mask)
    tl.store(c_ptr + c_offsets, matmul_activated(total, ACTIVATION), mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def matmul_lines(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> dict[str, Any]:
    """Which lines of a and b lie side by side, rows or columns, and what divides their lengths and the ways between them."""
    found: dict[str, Any] = {"N_STEP": known_step(c.shape[1], c.stride(0))}
    for name, matrix in (("A", a), ("B", b)):
        turned = matrix.stride(1) != 1
        length, apart = (matrix.shape[0], matrix.stride(1)) if turned else (matrix.shape[1], matrix.stride(0))
        found |= {f"{name}_T": turned, f"{name}_STEP": known_step(length, apart)}
    return found


def matmul_tiled(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, finish: Epilogue, precision: str, configuration: dict[str, int]
) -> Launch:
    """The launch for matrices of these shapes and strides, to be called with them."""
    (m, k), n = a.shape, b.shape[1]
    block_m, block_n = configuration["BLOCK_M"], configuration["BLOCK_N"]
    grid = (-(-m // block_m) * -(-n // block_n),)
    sizes = (m, n, k, *a.stride(), *b.stride(), c.stride(0))
    constants = matmul_lines(a, b, c)
    constants |= {"WHOLE_K": k % configuration["BLOCK_K"] == 0, "UPCAST": INTERPRETED and a.element_size() < 4}
    constants |= {"PRECISION": precision, **finish.constants, **configuration}
    run = matmul_tiled_kernel[grid]
    return lambda a, b, c, finish: run(a, b, c, *finish[:4], *sizes, **constants)
# --8<-- [end:launch]
