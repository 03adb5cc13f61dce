"""Right kernels, written otherwise than the solutions: other grids, loops, layouts, operations."""

import triton
import triton.language as tl

from tests.labs.submissions import right
from tests.labs.wrong_elementwise import activation_kernel, atomic_kernel, masked_kernel
from tests.labs.wrong_matmul import grouped_kernel, launch, product_kernel
from tests.labs.wrong_softmax import by_row


@right("vector_add")
def one_block_of_all(x, y, out):
    masked_kernel[(1,)](x, y, out, len(out), BLOCK=triton.next_power_of_2(max(len(out), 1)))


@triton.jit
def persistent_add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
        y = tl.load(y_ptr + offsets, mask=offsets < n, other=0.0)
        tl.store(out_ptr + offsets, x + y, mask=offsets < n)


@right("vector_add")
def persistent_programs(x, y, out):
    persistent_add_kernel[(3,)](x, y, out, len(out), BLOCK=64)


@triton.jit
def moving_pointers_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    x_ptr += first
    y_ptr += first
    out_ptr += first
    lanes = tl.arange(0, BLOCK)
    left = n - first
    tl.store(out_ptr + lanes, tl.load(y_ptr + lanes, lanes < left) + tl.load(x_ptr + lanes, lanes < left), lanes < left)


@right("vector_add")
def pointers_moved_to_the_block(x, y, out):
    moving_pointers_kernel[lambda meta: (triton.cdiv(len(out), meta["BLOCK"]),)](x, y, out, len(out), BLOCK=128)


@triton.jit
def two_a_program_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for i in tl.static_range(2):
        offsets = (tl.program_id(0) * 2 + i) * BLOCK + tl.arange(0, BLOCK)
        mask = (offsets >= 0) & (offsets < n)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@right("vector_add")
def two_blocks_a_program(x, y, out):
    two_a_program_kernel[(triton.cdiv(len(out), 256), 1, 1)](x, y, out, len(out), BLOCK=128)


@right("fused_activation")
def activation_by_row(x, bias, out):
    n = x.shape[1]
    activation_kernel[(len(x),)](x, bias, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@triton.jit
def activation_tile_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, m, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    bias = tl.load(bias_ptr + columns, mask=columns < n).to(tl.float32)
    t = tl.load(x_ptr + rows[:, None] * x_row + columns[None, :], mask=mask).to(tl.float32) + bias[None, :]
    tl.store(out_ptr + rows[:, None] * out_row + columns[None, :], t / (1 + tl.exp(-t)), mask=mask)


@right("fused_activation")
def activation_by_tile(x, bias, out):
    grid = (triton.cdiv(len(x), 32), triton.cdiv(x.shape[1], 32))
    activation_tile_kernel[grid](x, bias, out, x.stride(0), out.stride(0), *x.shape, BLOCK=32)


@triton.jit
def rows_kernel(x_ptr, out_ptr, x_row, out_row, m, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    mask = (rows < m) & (columns < n)
    x = tl.load(x_ptr + rows * x_row + columns, mask=mask, other=-1e30)
    numerator = tl.where(mask, tl.exp(x - tl.max(x, axis=1, keep_dims=True)), 0.0)
    total = tl.sum(numerator, axis=1, keep_dims=True)
    tl.store(out_ptr + rows * out_row + columns, numerator / tl.where(total == 0, 1.0, total), mask=mask)


@right("row_softmax")
def several_rows_a_program(x, out):
    block = triton.next_power_of_2(x.shape[1])
    grid = (triton.cdiv(len(x), 2),)
    rows_kernel[grid](x, out, x.stride(0), out.stride(0), *x.shape, ROWS=2, BLOCK=block)


@right("far_rows")
def addresses_in_64_bits(x, out):
    several_rows_a_program(x, out)


@triton.jit
def base_two_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0).to(tl.int64) * x_row
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + columns, mask=columns < n, other=-float("inf")) * 1.4426950408889634
    numerator = tl.exp2(x - tl.max(x, axis=0))
    out = numerator * (1 / tl.sum(numerator, axis=0))
    tl.store(out_ptr + tl.program_id(0).to(tl.int64) * out_row + columns, out, mask=columns < n)


@right("row_softmax")
def powers_of_two(x, out):
    by_row(base_two_kernel, x, out)


@right("row_softmax")
def contiguous_copy_first(x, out):
    x = x.contiguous()
    by_row(base_two_kernel, x, out)


@triton.jit
def three_passes_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * x_row + start + lanes, mask=start + lanes < n, other=-float("inf"))
        largest = tl.maximum(largest, x)
    most = tl.max(largest, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * x_row + start + lanes, mask=start + lanes < n, other=-float("inf"))
        total += tl.exp(x - most)
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * x_row + start + lanes, mask=start + lanes < n)
        y = tl.exp(x - most) / tl.sum(total, axis=0)
        tl.store(out_ptr + row * out_row + start + lanes, y, mask=start + lanes < n)


@right("long_softmax")
def three_passes(x, out):
    three_passes_kernel[(len(x),)](x, out, x.stride(0), out.stride(0), x.shape[1], BLOCK=1024)


@triton.jit
def online_kernel(x_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
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
        tl.store(out_ptr + row * out_row + columns, tl.exp(x - largest) / total, mask=columns < n)


@right("long_softmax")
def online(x, out):
    online_kernel[(len(x),)](x, out, x.stride(0), out.stride(0), x.shape[1], BLOCK=256)


@right("tiled_matmul")
def tiles_of_32(a, b, out):
    launch(product_kernel, a, b, out)


@right("tiled_matmul")
def tiles_of_64(a, b, out):
    launch(product_kernel, a, b, out, tile=64)


@right("tiled_matmul")
def one_axis_and_moving_pointers(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    grid = (triton.cdiv(m, 32) * triton.cdiv(n, 64),)
    grouped_kernel[grid](a, b, out, m, n, k, *a.stride(), *b.stride(), *out.stride(), M=32, N=64, K=16)


@right("dot_product")
def sum_by_atomics(x, y, out):
    out.zero_()
    atomic_kernel[(triton.cdiv(len(x), 256),)](x, y, out, len(x), BLOCK=256)


@triton.jit
def relu_kernel(x_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < count, other=0.0)
    tl.store(x_ptr + offsets, tl.maximum(x, 0.0), mask=offsets < count)


@right("matmul_relu")
def relu_in_a_second_launch(a, b, out):
    product = out.contiguous()
    launch(product_kernel, a, b, product)
    relu_kernel[(triton.cdiv(product.numel(), 1024),)](product, product.numel(), BLOCK=1024)
    out.copy_(product)
