"""Softmax kernels, and others that reduce rows, with the mistakes that people make."""

import triton
import triton.language as tl

from tests.labs.submissions import wrong


def by_row(kernel, x, out, **more):
    """Launch a kernel that gives each row a program."""
    block = triton.next_power_of_2(x.shape[1])
    kernel[(x.shape[0],)](x, out, x.stride(0), out.stride(0), x.shape[1], BLOCK=block, **more)


@triton.jit
def no_maximum_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
    numerator = tl.exp(x)
    tl.store(out_ptr + row * out_row + columns, numerator / tl.sum(numerator, axis=0), mask=columns < n)


@wrong("row_softmax", r"near 200(.|\n)*came nan(.|\n)*Subtract the row's maximum")
def without_the_maximum(x, out):
    by_row(no_maximum_kernel, x, out)


@triton.jit
def no_other_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + columns, mask=columns < n)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_row + columns, numerator / tl.sum(numerator, axis=0), mask=columns < n)


@wrong("row_softmax", r"rows of 100\n(.|\n)*gives no `other`(.|\n)*x = tl\.load\((.|\n)*undefined on a GPU")
def missing_other(x, out):
    by_row(no_other_kernel, x, out)


@triton.jit
def zero_other_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=0.0)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_row + columns, numerator / tl.sum(numerator, axis=0), mask=columns < n)


@wrong("row_softmax", r"lanes beyond the row's end were counted, as zeros(.|\n)*other=-float\('inf'\)")
def other_is_zero(x, out):
    by_row(zero_other_kernel, x, out)


@triton.jit
def zero_maximum_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=0.0)
    numerator = tl.where(columns < n, tl.exp(x - tl.max(x, axis=0)), 0.0)
    tl.store(out_ptr + row * out_row + columns, numerator / tl.sum(numerator, axis=0), mask=columns < n)


@wrong("row_softmax", r"near -200(.|\n)*came nan(.|\n)*holds 0 wins the maximum")
def zero_wins_the_maximum(x, out):
    by_row(zero_maximum_kernel, x, out)


@triton.jit
def undivided_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
    tl.store(out_ptr + row * out_row + columns, tl.exp(x - tl.max(x, axis=0)), mask=columns < n)


@wrong("row_softmax", r"nobody divided them by their sum")
def never_divided(x, out):
    by_row(undivided_kernel, x, out)


@triton.jit
def softmax_row_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_row + columns, numerator / tl.sum(numerator, axis=0), mask=columns < n)


@wrong("row_softmax", r"elements apart in x(.|\n)*between the elements of `x`(.|\n)*wrong stride")
def row_stride_ignored(x, out):
    n = x.shape[1]
    softmax_row_kernel[(len(x),)](x, out, n, out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@wrong("row_softmax", r"in the output(.|\n)*writes between the elements of `out`(.|\n)*wrong stride")
def output_stride_taken_from_the_input(x, out):
    n = x.shape[1]
    softmax_row_kernel[(len(x),)](x, out, x.stride(0), n, n, BLOCK=triton.next_power_of_2(n))


@wrong("row_softmax", r"the row stride of `x` is missing(.|\n)*x\.stride\(0\)")
def column_stride_for_row_stride(x, out):
    n = x.shape[1]
    softmax_row_kernel[(len(x),)](x, out, x.stride(1), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@wrong("row_softmax", r"output were never written(.|\n)*grid is too short")
def one_row_too_few(x, out):
    n = x.shape[1]
    softmax_row_kernel[(len(x) - 1,)](x, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@wrong("row_softmax", r"Program 3 of 4 reads outside of `x`(.|\n)*more programs than there is work")
def one_row_too_many(x, out):
    n = x.shape[1]
    softmax_row_kernel[(len(x) + 1,)](x, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@wrong("row_softmax", r"never written(.|\n)*loop ends early")
def block_shorter_than_the_row(x, out):
    n = x.shape[1]
    softmax_row_kernel[(len(x),)](x, out, x.stride(0), out.stride(0), n, BLOCK=64)


@wrong("far_rows", r"computed in int32 and wrapped around(.|\n)*to\(tl\.int64\)")
def offsets_in_int32(x, out):
    by_row(softmax_row_kernel, x, out)


@triton.jit
def store_unmasked_row_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_row + columns, numerator / tl.sum(numerator, axis=0))


@wrong("row_softmax", r"writes outside of `out`(.|\n)*no mask")
def row_stored_without_mask(x, out):
    by_row(store_unmasked_row_kernel, x, out)


@triton.jit
def tile_axis_kernel(x_ptr, out_ptr, x_row, out_row, m, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    mask = (rows < m) & (columns < n)
    x = tl.load(x_ptr + rows * x_row + columns, mask=mask, other=-float("inf"))
    numerator = tl.where(mask, tl.exp(x - tl.max(x, axis=0)[None, :]), 0.0)
    tl.store(out_ptr + rows * out_row + columns, numerator / tl.sum(numerator, axis=0)[None, :], mask=mask)


@wrong("row_softmax", r"A row's sum runs along axis 1")
def axis_swapped(x, out):
    block = triton.next_power_of_2(x.shape[1])
    grid = (triton.cdiv(len(x), 4),)
    tile_axis_kernel[grid](x, out, x.stride(0), out.stride(0), len(x), x.shape[1], ROWS=4, BLOCK=block)


@triton.jit
def no_rescale_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(x, axis=0))
        total += tl.sum(tl.exp(x - largest), axis=0)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
        tl.store(out_ptr + row * out_row + columns, tl.exp(x - largest) / total, mask=columns < n)


@wrong("long_softmax", r"running sum was not scaled down(.|\n)*exp\(old max - new max\)(.|\n)*hold 512")
def online_without_rescale(x, out):
    no_rescale_kernel[(len(x),)](x, out, x.stride(0), out.stride(0), x.shape[1], BLOCK=512)


@wrong("long_softmax", r"has 2048 lanes(.|\n)*loop")
def whole_row_at_once(x, out):
    by_row(softmax_row_kernel, x, out)


@triton.jit
def zero_tail_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=0.0)
        new = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(x - new), axis=0)
        largest = new
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=0.0)
        tl.store(out_ptr + row * out_row + columns, tl.exp(x - largest) / total, mask=columns < n)


@wrong("long_softmax", r"rows of 2500(.|\n)*(lanes beyond the row's end were counted|other=-float)")
def last_block_padded_with_zeros(x, out):
    zero_tail_kernel[(len(x),)](x, out, x.stride(0), out.stride(0), x.shape[1], BLOCK=512)


@triton.jit
def floor_loop_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for i in range(n // BLOCK):
        columns = i * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
        new = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(x - new), axis=0)
        largest = new
    for i in range(n // BLOCK):
        columns = i * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
        tl.store(out_ptr + row * out_row + columns, tl.exp(x - largest) / total, mask=columns < n)


@wrong("long_softmax", r"never written(.|\n)*`n // BLOCK`")
def loop_rounded_down(x, out):
    floor_loop_kernel[(len(x),)](x, out, x.stride(0), out.stride(0), x.shape[1], BLOCK=512)


@triton.jit
def misspelled_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + columns, mask=mask, other=-float("inf"))  # noqa: F821
    tl.store(out_ptr + row * out_row + columns, x, mask=columns < n)


@wrong("row_softmax", r"`mask` is used before any line sets it")
def line_still_missing(x, out):
    by_row(misspelled_kernel, x, out)


@triton.jit
def row_max_kernel(x_ptr, out_ptr, x_row, m, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, BLOCK)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    x = tl.load(x_ptr + rows[:, None] * x_row + columns[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows, tl.max(x, axis=1), mask=rows < m)


@triton.jit
def unfilled_max_kernel(x_ptr, out_ptr, x_row, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * x_row + columns, mask=columns < n)
    tl.store(out_ptr + tl.program_id(0), tl.max(x, axis=0))


@wrong("row_max", r"gives no `other`(.|\n)*x = tl\.load\((.|\n)*here it is infinity(.|\n)*Give `other=`")
def maximum_of_undefined_lanes(x, out):
    unfilled_max_kernel[(len(x),)](x, out, x.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))


@wrong("row_max", r"masked lane that holds 0 wins the maximum")
def maximum_with_zeros(x, out):
    block = triton.next_power_of_2(x.shape[1])
    row_max_kernel[(triton.cdiv(len(x), 4),)](x, out, x.stride(0), len(x), x.shape[1], ROWS=4, BLOCK=block)


@triton.jit
def unfilled_tile_kernel(x_ptr, out_ptr, x_row, m, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows[:, None] * x_row + columns[None, :], mask=(rows[:, None] < m) & (columns[None, :] < n))
    tl.store(out_ptr + rows, tl.max(x, axis=1), mask=rows < m)


@wrong("row_max", r"3 by 100(.|\n)*gives no `other`(.|\n)*here it is infinity")
def tile_maximum_of_undefined_lanes(x, out):
    block = triton.next_power_of_2(x.shape[1])
    unfilled_tile_kernel[(triton.cdiv(len(x), 16),)](x, out, x.stride(0), *x.shape, ROWS=16, BLOCK=block)


@triton.jit
def shifted_max_kernel(x_ptr, out_ptr, x_row, m, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    row = (tl.program_id(0) + 1) % m
    x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
    tl.store(out_ptr + tl.program_id(0), tl.max(x, axis=0))


@wrong("row_max", r"right values in wrong places: out\[0\] holds what belongs at out\[1\]")
def maximum_of_the_next_row(x, out):
    shifted_max_kernel[(len(x),)](x, out, x.stride(0), *x.shape, BLOCK=triton.next_power_of_2(x.shape[1]))


@triton.jit
def bare_numerators_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
        new = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(x - new), axis=0)
        largest = new
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + columns, mask=columns < n, other=-float("inf"))
        tl.store(out_ptr + row * out_row + columns, tl.exp(x) / total, mask=columns < n)


@wrong("long_softmax", r"the numerators are exp\(x\), and the sum was taken against the maximum")
def numerators_without_the_maximum(x, out):
    bare_numerators_kernel[(len(x),)](x, out, x.stride(0), out.stride(0), x.shape[1], BLOCK=1024)


@wrong("row_softmax", r"elements apart in x(.|\n)*the stride of `x` is used for `out`")
def stride_of_x_for_the_output(x, out):
    n = x.shape[1]
    softmax_row_kernel[(len(x),)](x, out, x.stride(0), x.stride(0), n, BLOCK=triton.next_power_of_2(n))
