"""Kernels that own a tile, or write one number, with the mistakes that people make in an address."""

import triton
import triton.language as tl

from tests.labs.submissions import wrong


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, xm, xn, ym, yn, om, on, m, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (i < m) & (j < n)
    x = tl.load(x_ptr + i * xm + j * xn, mask=mask)
    y = tl.load(y_ptr + i * ym + j * yn, mask=mask)
    tl.store(out_ptr + i * om + j * on, x + y, mask=mask)


def add(x, y, out, strides):
    grid = (triton.cdiv(len(x), 32), triton.cdiv(x.shape[1], 32))
    add_kernel[grid](x, y, out, *strides, *x.shape, BLOCK=32)


@wrong("add_tiles", r"the stride of `x` is used for `y`")
def stride_of_x_for_y(x, y, out):
    add(x, y, out, (*x.stride(), *x.stride(), *out.stride()))


@wrong("add_tiles", r"rows and columns are exchanged in the address of `y`")
def rows_and_columns_of_y_exchanged(x, y, out):
    add(x, y, out, (*x.stride(), *reversed(y.stride()), *out.stride()))


@wrong("add_tiles", r"A race: .* writes it too(.|\n)*its own stride\? out\[i, j\] lies at")
def rows_and_columns_of_the_output_exchanged(x, y, out):
    add(x, y, out, (*x.stride(), *y.stride(), *reversed(out.stride())))


@triton.jit
def turn_kernel(x_ptr, out_ptr, xm, xn, om, on, m, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (i < m) & (j < n)
    tl.store(out_ptr + i * om + j * on, tl.load(x_ptr + i * xm + j * xn, mask=mask), mask=mask)


def turn(x, out, strides):
    turn_kernel[(triton.cdiv(len(x), 32), triton.cdiv(x.shape[1], 32))](x, out, *strides, *x.shape, BLOCK=32)


@wrong("transpose", r"writes outside of `out`(.|\n)*rows and columns are exchanged in the address: out\[i, j\] lies at")
def stored_where_it_was(x, out):
    turn(x, out, (*x.stride(), *out.stride()))


@wrong("transpose", r"rows and columns are exchanged in the address of `x`")
def loaded_across(x, out):
    turn(x, out, (*reversed(x.stride()), *reversed(out.stride())))


@wrong("transpose", r"the stride of `out` is used for `x`")
def stride_of_the_output_for_x(x, out):
    turn(x, out, (*out.stride(), *reversed(out.stride())))


@triton.jit
def spread_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(out_ptr + i, tl.sum(x * y), mask=i < n)


@wrong("dot_product", r"`out` holds one number, and the offsets are those of a vector(.|\n)*the pointer alone")
def offsets_to_a_single_number(x, y, out):
    out.zero_()
    spread_kernel[(triton.cdiv(len(x), 256),)](x, y, out, len(x), BLOCK=256)
