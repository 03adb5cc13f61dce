"""Every puzzle, solved."""

import torch
import triton
import triton.language as tl

from tests.labs.submissions import right


@triton.jit
def move_kernel(x_ptr, out_ptr, x_step, first, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + first + i * x_step, mask=i < n), mask=i < n)


@right("copy")
def copied(x, out):
    move_kernel[(triton.cdiv(len(x), 128),)](x, out, 1, 0, len(x), BLOCK=128)


@right("gather_stride")
def copied_from_a_view(x, out):
    move_kernel[(triton.cdiv(len(x), 128),)](x, out, x.stride(0), 0, len(x), BLOCK=128)


@right("reverse")
def copied_backwards(x, out):
    move_kernel[(triton.cdiv(len(x), 128),)](x, out, -1, len(x) - 1, len(x), BLOCK=128)


@triton.jit
def tile_kernel(x_ptr, y_ptr, out_ptr, xm, xn, ym, yn, om, on, m, n, TIMES: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (i < m) & (j < n)
    x = tl.load(x_ptr + i * xm + j * xn, mask=mask)
    y = tl.load(y_ptr + i * ym + j * yn, mask=mask)
    tl.store(out_ptr + i * om + j * on, x * y if TIMES else x + y, mask=mask)


@right("add_tiles")
def tiles_added(x, y, out):
    grid = (triton.cdiv(len(x), 16), triton.cdiv(x.shape[1], 16))
    tile_kernel[grid](x, y, out, *x.stride(), *y.stride(), *out.stride(), *out.shape, TIMES=False, BLOCK=16)


@right("outer_product")
def outer_by_strides_of_zero(x, y, out):
    grid = (triton.cdiv(len(x), 32), triton.cdiv(len(y), 32))
    tile_kernel[grid](x, y, out, 1, 0, 0, 1, *out.stride(), *out.shape, TIMES=True, BLOCK=32)


@triton.jit
def turn_kernel(x_ptr, out_ptr, xm, xn, om, on, m, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i[:, None] * xm + j[None, :] * xn, mask=(i[:, None] < m) & (j[None, :] < n))
    tl.store(out_ptr + j[:, None] * om + i[None, :] * on, tl.trans(x), mask=(j[:, None] < n) & (i[None, :] < m))


@right("transpose")
def tile_turned(x, out):
    grid = (triton.cdiv(len(x), 32), triton.cdiv(x.shape[1], 32))
    turn_kernel[grid](x, out, *x.stride(), *out.stride(), *x.shape, BLOCK=32)


@triton.jit
def row_max_right_kernel(x_ptr, out_ptr, xm, n, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * xm + j, mask=j < n, other=-float("inf"))
    tl.store(out_ptr + tl.program_id(0), tl.max(x, axis=0))


@right("row_max")
def maximum_by_row(x, out):
    row_max_right_kernel[(len(x),)](x, out, x.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))


@triton.jit
def column_sum_kernel(x_ptr, out_ptr, xm, m, n, BLOCK: tl.constexpr):
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(m):
        total += tl.load(x_ptr + i * xm + j, mask=j < n, other=0.0)
    tl.store(out_ptr + j, total, mask=j < n)


@right("column_sum")
def sums_of_columns(x, out):
    column_sum_kernel[(triton.cdiv(x.shape[1], 64),)](x, out, x.stride(0), *x.shape, BLOCK=64)


@triton.jit
def scan_kernel(x_ptr, out_ptr, xm, om, n, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * xm + j, mask=j < n, other=0.0)
    tl.store(out_ptr + tl.program_id(0) * om + j, tl.cumsum(x, axis=0), mask=j < n)


@right("running_sum")
def scanned(x, out):
    scan_kernel[(len(x),)](x, out, x.stride(0), out.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))


@triton.jit
def three_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + i - 1, mask=(i > 0) & (i - 1 < n), other=0.0)
    here = tl.load(x_ptr + i, mask=i < n)
    after = tl.load(x_ptr + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(out_ptr + i, (left + here + after) / 3, mask=i < n)


@right("stencil")
def three_loads(x, out):
    three_kernel[(triton.cdiv(len(x), 256),)](x, out, len(x), BLOCK=256)


@triton.jit
def count_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.atomic_add(out_ptr + x, 1, mask=i < n)


@right("histogram")
def counted_by_atomics(x, out):
    out.zero_()
    count_kernel[(triton.cdiv(len(x), 256),)](x, out, len(x), BLOCK=256)


@triton.jit
def attend_kernel(q_ptr, k_ptr, v_ptr, out_ptr, km, vm, n, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    d = tl.arange(0, D)
    q = tl.load(q_ptr + d) * scale
    largest, total = -float("inf"), 0.0
    out = tl.zeros((D,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + i[:, None] * km + d[None, :], mask=i[:, None] < n, other=0.0)
        score = tl.where(i < n, tl.sum(k * q[None, :], axis=1), -float("inf"))
        new = tl.maximum(largest, tl.max(score, axis=0))
        weight = tl.exp(score - new)
        old = tl.exp(largest - new)
        v = tl.load(v_ptr + i[:, None] * vm + d[None, :], mask=i[:, None] < n, other=0.0)
        out = out * old + tl.sum(v * weight[:, None], axis=0)
        total = total * old + tl.sum(weight, axis=0)
        largest = new
    tl.store(out_ptr + d, out / total)


@right("attention_row")
def attended_online(q, k, v, out):
    scale = 1 / torch.tensor(float(len(q))).sqrt().item()
    attend_kernel[(1,)](q, k, v, out, k.stride(0), v.stride(0), len(k), scale, D=len(q), BLOCK=32)
