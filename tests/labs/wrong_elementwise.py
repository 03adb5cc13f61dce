"""Element-wise kernels with the mistakes that people make."""

import torch
import triton
import triton.language as tl

from tests.labs.submissions import wrong


@triton.jit
def unmasked_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


@wrong("vector_add", r"reads outside of `x`(.|\n)*lanes 232 to 255: offset 1000 to 1023(.|\n)*no mask")
def no_mask(x, y, out):
    unmasked_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def masked_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@wrong("vector_add", r"232 of 1000 elements(.|\n)*never written(.|\n)*had 3 programs(.|\n)*cdiv")
def floor_divided_grid(x, y, out):
    masked_kernel[(len(out) // 256,)](x, y, out, len(out), BLOCK=256)


@wrong("vector_add", r"`x` is added to itself")
def same_pointer_twice(x, y, out):
    masked_kernel[(triton.cdiv(len(out), 256),)](x, x, out, len(out), BLOCK=256)


@wrong("vector_add", r"writes into the input `y`")
def output_in_the_place_of_an_input(x, y, out):
    masked_kernel[(triton.cdiv(len(out), 256),)](x, out, y, len(out), BLOCK=256)


@wrong("vector_add", r"grid must be a tuple|cdiv")
def float_grid(x, y, out):
    masked_kernel[(len(out) / 256 + 1,)](x, y, out, len(out), BLOCK=256)


@wrong("vector_add", r"grid must be a tuple")
def grid_is_a_number(x, y, out):
    masked_kernel[triton.cdiv(len(out), 256)](x, y, out, len(out), BLOCK=256)


@wrong("vector_add", r"power of two")
def block_of_100(x, y, out):
    masked_kernel[(triton.cdiv(len(out), 100),)](x, y, out, len(out), BLOCK=100)


@wrong("vector_add", r"does not pass all of the kernel's arguments")
def forgotten_argument(x, y, out):
    masked_kernel[(triton.cdiv(len(out), 256),)](x, y, out, BLOCK=256)


@wrong("vector_add", r"launched no kernel(.|\n)*returned a tensor")
def pytorch_instead(x, y, out):
    return x + y


@triton.jit
def store_unmasked_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x + y)


@wrong("vector_add", r"writes outside of `out`(.|\n)*no mask")
def store_without_mask(x, y, out):
    store_unmasked_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def one_too_many_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets <= n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@wrong("vector_add", r"lane 232: offset 1000(.|\n)*off by one")
def mask_one_too_wide(x, y, out):
    one_too_many_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def index_too_high_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets + 3, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@wrong("vector_add", r"lanes 229 to 231: offset 1000 to 1002(.|\n)*the index or the mask is wrong")
def index_three_too_high(x, y, out):
    index_too_high_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def one_too_few_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n - 1
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@wrong("vector_add", r"1 of 1000 elements of the output was never written\. It is out\[999\](.|\n)*mask is too narrow")
def mask_one_too_narrow(x, y, out):
    one_too_few_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def overlapping_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@wrong("vector_add", r"A race: program 0 of 4 writes out\[1\], and program 1 of 4(.|\n)*multiplied by the block's size")
def program_number_not_multiplied(x, y, out):
    overlapping_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def worded_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (offsets < n) and (offsets >= 0)
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@wrong("vector_add", r"`offsets < n and offsets >= 0` is no mask of both(.|\n)*use `&`")
def and_for_ampersand(x, y, out):
    worded_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def own_output_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    out = tl.load(out_ptr + offsets, mask=mask, other=0.0)
    out += tl.load(x_ptr + offsets, mask=mask, other=0.0)
    out += tl.load(y_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, out, mask=mask)


@wrong("vector_add", r"reads `out` before anything was written there")
def reads_its_own_output(x, y, out):
    own_output_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def half_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    out = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, out.to(tl.float16), mask=mask)


@wrong("vector_add", r"rounded to float16 before it was stored")
def stored_in_half(x, y, out):
    half_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def subtract_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    out = tl.load(x_ptr + offsets, mask=mask) - tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, out, mask=mask)


@wrong("vector_add", r"expected .*, came (.|\n)*subtracted")
def minus_for_plus(x, y, out):
    subtract_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def wrapped_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


@wrong("vector_add", r"A race(.|\n)*two programs own the same elements")
def wrapped_offsets(x, y, out):
    wrapped_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def scalar_pointer_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@wrong("vector_add", r"Add the offsets: `ptr \+ offsets`(.|\n)* More: errors/memory/#value-block$")
def store_without_offsets(x, y, out):
    scalar_pointer_kernel[(triton.cdiv(len(out), 256),)](x, y, out, len(out), BLOCK=256)


@triton.jit
def activation_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_row + columns, mask=mask).to(tl.float32)
    t = x + tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * out_row + columns, t * tl.sigmoid(t), mask=mask)


@wrong("fused_activation", r"between the elements of `x`(.|\n)*wrong stride(.|\n)*x\.stride\(0\)")
def rows_taken_as_contiguous(x, bias, out):
    n = x.shape[1]
    activation_kernel[(len(x),)](x, bias, out, n, out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@triton.jit
def half_sigmoid_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    t = tl.load(x_ptr + row * x_row + columns, mask=mask) + tl.load(bias_ptr + columns, mask=mask)
    tl.store(out_ptr + row * out_row + columns, t / (1 + tl.exp(-t)), mask=mask)


@wrong("fused_activation", r"this function wants float32(.|\n)*\.to\(tl\.float32\)")
def exponential_of_half(x, bias, out):
    n = x.shape[1]
    half_sigmoid_kernel[(len(x),)](x, bias, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@triton.jit
def forgotten_bias_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_row + columns, mask=mask).to(tl.float32)
    t = x + tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * out_row + columns, x * tl.sigmoid(t), mask=mask)


@wrong("fused_activation", r"multiplied by x without its bias")
def bias_only_in_the_sigmoid(x, bias, out):
    n = x.shape[1]
    forgotten_bias_kernel[(len(x),)](x, bias, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@wrong("fused_activation", r"changed its input `x`")
def input_changed_by_pytorch(x, bias, out):
    n = x.shape[1]
    x += bias
    activation_kernel[(len(x),)](x, torch.zeros_like(bias), out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@triton.jit
def stencil_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + i - 1, mask=i - 1 < n, other=0.0)
    here = tl.load(x_ptr + i, mask=i < n, other=0.0)
    after = tl.load(x_ptr + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(out_ptr + i, (left + here + after) / 3, mask=i < n)


@wrong("stencil", r"lane 0: offset -1(.|\n)*below 0")
def neighbor_before_the_first(x, out):
    stencil_kernel[(triton.cdiv(len(x), 256),)](x, out, len(x), BLOCK=256)


@triton.jit
def in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + n - 1 - i, mask=i < n)
    tl.store(x_ptr + i, x, mask=i < n)


@wrong("reverse", r"A race(.|\n)*reads what another one writes")
def reversed_in_place(x, out):
    out.copy_(x)
    in_place_kernel[(triton.cdiv(len(x), 256),)](out, len(x), BLOCK=256)


@triton.jit
def diagonal_kernel(x_ptr, y_ptr, out_ptr, m, n, row, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows < m) & (columns < n)
    product = tl.load(x_ptr + rows, mask=mask) * tl.load(y_ptr + columns, mask=mask)
    tl.store(out_ptr + rows * row + columns, product, mask=mask)


@wrong("outer_product", r"never written(.|\n)*rows and columns were added lane by lane")
def only_the_diagonal(x, y, out):
    grid = (triton.cdiv(len(x), 32), triton.cdiv(len(y), 32))
    diagonal_kernel[grid](x, y, out, len(x), len(y), out.stride(0), BLOCK=32)


@triton.jit
def lost_updates_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr, tl.load(out_ptr) + tl.sum(x * y))


@wrong("dot_product", r"A race(.|\n)*atomic_add")
def sum_without_atomics(x, y, out):
    out.zero_()
    lost_updates_kernel[(triton.cdiv(len(x), 256),)](x, y, out, len(x), BLOCK=256)


@triton.jit
def atomic_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(x * y))


@wrong("dot_product", r"reads `out` before anything was written(.|\n)*out\.zero_\(\)")
def atomics_on_unset_memory(x, y, out):
    atomic_kernel[(triton.cdiv(len(x), 256),)](x, y, out, len(x), BLOCK=256)


@triton.jit
def counting_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.atomic_add(out_ptr + x, 1, mask=i < n)


@wrong("histogram", r"nobody set to zero(.|\n)*out\.zero_\(\)")
def counts_on_unset_memory(x, out):
    counting_kernel[(triton.cdiv(len(x), 256),)](x, out, len(x), BLOCK=256)
