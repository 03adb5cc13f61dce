"""Copies of matrices whose lines begin at multiples of 16 bytes, or of 128: what a descriptor can load, and how it loads best.

The lines of a copy are those of its matrix, rows or columns, so it is read and written side by side: nothing is turned.
"""

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from kernels.common.sizes import cdiv, next_power_of_2
from kernels.matmul.epilogue import known_step, matmul_known
from kernels.matmul.plan import LONG_LINE

NUMBERS = 4096  # of a block


@triton.jit
def aligned_copy_kernel(
    x_ptr, out_ptr, lines, length, line_stride, stride, out_stride,
    X_STEP: tl.constexpr, OUT_STEP: tl.constexpr, LINES: tl.constexpr, PLACES: tl.constexpr,
):
    # This program owns LINES lines and PLACES places of each. What it writes behind the end of a line is zero.
    length, line_stride = matmul_known(length, X_STEP), matmul_known(line_stride, X_STEP)
    out_stride = matmul_known(out_stride, OUT_STEP)
    program, across = tl.program_id(0).to(tl.int64), tl.cdiv(out_stride, PLACES)
    line = program // across * LINES + tl.arange(0, LINES)  # [LINES]
    place = program % across * PLACES + tl.arange(0, PLACES)  # [PLACES]
    mask = (line < lines)[:, None]  # [LINES, 1]
    x_ptrs = x_ptr + line[:, None] * line_stride + place[None, :] * stride  # [LINES, PLACES]
    x = tl.load(x_ptrs, mask=mask & (place < length)[None, :], other=0.0)  # [LINES, PLACES]
    tl.store(out_ptr + line[:, None] * out_stride + place[None, :], x, mask=mask & (place < out_stride)[None, :])


def line_stride(length: int, element_size: int) -> int:
    """How far apart the lines of a copy begin, in numbers."""
    step = (128 if length * element_size >= LONG_LINE else 16) // element_size
    return -(-length // step) * step


def aligned_copier(matrix: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """What copies matrices like this one."""
    turned = matrix.stride(0) == 1 and (matrix.stride(1) != 1 or matrix.shape[1] == 1)
    (lines, length), (far, near) = (matrix.t().shape, matrix.t().stride()) if turned else (matrix.shape, matrix.stride())
    apart = line_stride(length, matrix.element_size())
    places = min(next_power_of_2(apart), 256)
    rows = NUMBERS // places
    run = aligned_copy_kernel[(cdiv(lines, rows) * cdiv(apart, places),)]
    sizes = lines, length, far, near, apart
    step = known_step(length, far) if near == 1 else 1
    constants = {"X_STEP": step, "OUT_STEP": known_step(apart), "LINES": rows, "PLACES": places}

    def copied(matrix: torch.Tensor) -> torch.Tensor:
        copy = matrix.new_empty((lines, apart))
        run(matrix, copy, *sizes, **constants)
        copy = copy[:, :length]
        return copy.t() if turned else copy

    return copied


def aligned_copy(matrix: torch.Tensor) -> torch.Tensor:
    """A copy whose lines begin at multiples of 16 bytes."""
    return aligned_copier(matrix)(matrix)
