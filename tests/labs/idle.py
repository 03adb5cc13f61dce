"""Right kernels in grids of more programs than there is work for."""

import triton
import triton.language as tl

from tests.labs.right_puzzles import move_kernel


def one_program_an_element(x, out):
    move_kernel[(len(x),)](x, out, x.stride(0), 0, len(x), BLOCK=128)


@triton.jit
def returning_kernel(x_ptr, out_ptr, step, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    if first >= n:
        return
    i = first + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i * step, mask=i < n), mask=i < n)


def programs_that_return_early(x, out):
    returning_kernel[(len(x),)](x, out, x.stride(0), len(x), BLOCK=128)


@triton.jit
def persistent_kernel(x_ptr, out_ptr, step, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.load(x_ptr + i * step, mask=i < n), mask=i < n)


def persistent_in_a_large_grid(x, out):
    persistent_kernel[(64,)](x, out, x.stride(0), len(x), BLOCK=64)


def one_more_than_needed(x, out):
    move_kernel[(triton.cdiv(len(x), 64) + 1,)](x, out, x.stride(0), 0, len(x), BLOCK=64)
