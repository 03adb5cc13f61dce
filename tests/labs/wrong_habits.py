"""Kernels by people who know PyTorch and Python, and take their habits along. Each line stands in a kernel of its own."""

import torch
import triton
import triton.language as tl

from tests.labs.submissions import wrong
from tests.labs.wrong_elementwise import masked_kernel


@triton.jit
def habit_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, n, HABIT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * x_row + columns, mask=mask, other=0.0)
    t = x + tl.load(bias_ptr + columns, mask=mask, other=0.0)
    y = t
    if HABIT == "converted_by_float":
        y = t.float()
    elif HABIT == "dtype_of_pytorch":
        y = t.to(torch.int64)
    elif HABIT == "method_of_a_tensor":
        y = t.clamp(min=0)
    elif HABIT == "hyperbolic_tangent":
        y = tl.tanh(t)
    elif HABIT == "relu_by_name":
        y = tl.relu(t)
    elif HABIT == "infinity_by_name":
        y = tl.where(mask, t, -tl.inf)
    elif HABIT == "silu_by_name":
        y = tl.silu(t)
    elif HABIT == "power":
        y = t**2
    elif HABIT == "maximum_of_python":
        y = t - max(t)
    elif HABIT == "dim_for_axis":
        y = t - tl.max(t, dim=0)
    elif HABIT == "keepdim_for_keep_dims":
        y = t / tl.sum(t, axis=0, keepdim=True)
    elif HABIT == "axis_of_a_tile":
        y = t - tl.max(t, axis=1)
    elif HABIT == "cdiv_of_a_tensor_in_the_kernel":
        y = t + triton.cdiv(x_ptr, BLOCK)
    elif HABIT == "arange_from_the_program":
        y = t + tl.arange(row * BLOCK, (row + 1) * BLOCK)
    elif HABIT == "pointer_indexed":
        y = x_ptr[columns]
    elif HABIT == "pointer_assigned":
        out_ptr[columns] = t
    elif HABIT == "block_indexed":
        y = t - t[0]
    elif HABIT == "length_of_a_pointer":
        y = t / len(x_ptr)
    tl.store(out_ptr + row * out_row + columns, y, mask=mask)


HABITS = {
    "converted_by_float": r"y = t\.float\(\)\n(.|\n)*converted with `\.to\(\.\.\.\)`",
    "dtype_of_pytorch": r"y = t\.to\(torch\.int64\)\n(.|\n)*write `tl\.int64`",
    "method_of_a_tensor": r"a block has no `\.clamp`(.|\n)*only what `tl` offers",
    "hyperbolic_tangent": r"no `tl\.tanh`(.|\n)*2 \* tl\.sigmoid\(2 \* x\) - 1",
    "relu_by_name": r"tl\.maximum\(x, 0\.0\)",
    "infinity_by_name": r"infinity is `float",
    "silu_by_name": r"Triton has no `tl\.silu`",
    "power": r"`\*\*` does not work on blocks",
    "maximum_of_python": r"y = t - max\(t\)\n(.|\n)*do not look into a block",
    "dim_for_axis": r"y = t - tl\.max\(t, dim=0\)\n(.|\n)*Triton says `axis`",
    "keepdim_for_keep_dims": r"y = t / tl\.sum\(.*\)\n(.|\n)*keep_dims=True",
    "axis_of_a_tile": r"y = t - tl\.max\(t, axis=1\)\n(.|\n)*fewer dimensions than this axis",
    "cdiv_of_a_tensor_in_the_kernel": r"Within a kernel it is `tl\.cdiv`",
    "arange_from_the_program": r"What depends on the program is added to it",
    "pointer_indexed": r"y = x_ptr\[columns\]\n(.|\n)*is not indexed",
    "pointer_assigned": r"out_ptr\[columns\] = t\n(.|\n)*Write to memory with `tl\.store",
    "block_indexed": r"y = t - t\[0\]\n(.|\n)*is(?: not|not be)? indexed",
    "length_of_a_pointer": r"does not know the tensor's length",
}


def with_habit(habit):
    def fn(x, bias, out):
        n, block = x.shape[1], triton.next_power_of_2(x.shape[1])
        habit_kernel[(len(x),)](x, bias, out, x.stride(0), out.stride(0), n, HABIT=habit, BLOCK=block)

    fn.__name__ = habit
    return fn


for habit, says in HABITS.items():
    wrong("fused_activation", says)(with_habit(habit))


def by_row(kernel, x, bias, out):
    n = x.shape[1]
    kernel[(len(x),)](x, bias, out, x.stride(0), out.stride(0), n, BLOCK=triton.next_power_of_2(n))


@triton.jit
def torch_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    t = tl.load(x_ptr + tl.program_id(0) * x_row + columns, mask=columns < n, other=0.0)
    tl.store(out_ptr + tl.program_id(0) * out_row + columns, torch.sigmoid(t), mask=columns < n)


@wrong("fused_activation", r"a function of PyTorch was called on a block(.|\n)*only what `tl` offers")
def sigmoid_of_pytorch(x, bias, out):
    by_row(torch_kernel, x, bias, out)


@triton.jit
def condition_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    t = tl.load(x_ptr + tl.program_id(0) * x_row + columns, mask=columns < n, other=0.0)
    y = t * 0.0
    if t > 0:
        y = t
    tl.store(out_ptr + tl.program_id(0) * out_row + columns, y, mask=columns < n)


@wrong("fused_activation", r"`if t > 0:` asks a whole block for one truth(.|\n)*tl\.where")
def condition_on_a_block(x, bias, out):
    by_row(condition_kernel, x, bias, out)


@triton.jit
def lucky_condition_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if i < n:
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@wrong("copy", r"compiler refuses this kernel(.|\n)*`if i < n:` asks a whole block for one truth")
def condition_that_goes_well(x, out):
    lucky_condition_kernel[(triton.cdiv(len(x), 256),)](x, out, len(x), BLOCK=256)


@triton.jit
def larger_kernel(x_ptr, bias_ptr, out_ptr, x_row, out_row, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    t = tl.load(x_ptr + tl.program_id(0) * x_row + columns, mask=columns < n, other=0.0)
    y = max(t, 0)
    tl.store(out_ptr + tl.program_id(0) * out_row + columns, y, mask=columns < n)


@wrong("fused_activation", r"Python's own `max`(.|\n)*tl\.maximum\(a, b\)")
def larger_by_python(x, bias, out):
    by_row(larger_kernel, x, bias, out)


@triton.jit
def assigned_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    out = tl.load(x_ptr + i, mask=i < n)  # noqa: F841


@wrong("copy", r"never written(.|\n)*no `tl\.store`(.|\n)*Assigning to a name")
def result_assigned_to_a_name(x, out):
    assigned_kernel[(triton.cdiv(len(x), 256),)](x, out, len(x), BLOCK=256)


@wrong("vector_add", r"the grid must be a tuple, not a list")
def grid_is_a_list(x, y, out):
    masked_kernel[[triton.cdiv(len(out), 256)]](x, y, out, len(out), BLOCK=256)


@wrong("vector_add", r"write `meta\['BLOCK'\]`")
def meta_with_a_dot(x, y, out):
    masked_kernel[lambda meta: (triton.cdiv(len(out), meta.BLOCK),)](x, y, out, len(out), BLOCK=256)


@wrong("vector_add", r"no compile-time argument of the name `BLOCK_SIZE`")
def meta_of_another_name(x, y, out):
    masked_kernel[lambda meta: (triton.cdiv(len(out), meta["BLOCK_SIZE"]),)](x, y, out, len(out), BLOCK=256)


@wrong("vector_add", r"one number belongs(.|\n)*`len\(x\)`")
def cdiv_of_a_tensor(x, y, out):
    masked_kernel[(triton.cdiv(x, 256),)](x, y, out, len(out), BLOCK=256)


@wrong("vector_add", r"launched with its grid, `kernel\[grid\]")
def launched_without_a_grid(x, y, out):
    masked_kernel(x, y, out, len(out), BLOCK=256)
