"""The operators of element-wise functions: `add`, `gelu`, `swiglu` and `geglu`."""

import torch

from kernels.activations.gated_unit import gated_unit_backward, gated_unit_forward
from kernels.activations.gelu import gelu_backward, gelu_forward
from kernels.add import add_forward
from kernels.common.arguments import check_approximate, check_float_tensor, check_like, check_row, check_same_device
from kernels.operators.register import operator


def check_add(x, y) -> None:
    check_float_tensor("x", x)
    check_float_tensor("y", y)
    check_same_device("y", y, "x", x)
    try:
        torch.broadcast_shapes(x.shape, y.shape)
    except RuntimeError:
        raise ValueError(f"y: expected a shape that broadcasts with x's {tuple(x.shape)}, got {tuple(y.shape)}") from None


def run_add(x, y):
    check_add(x, y)
    return add_forward(x, y)


def fake_add(x, y):
    check_add(x, y)
    dtype = torch.result_type(x, y)
    x, y = torch.broadcast_tensors(x, y)
    out = torch.empty_like(x, dtype=dtype)
    return out if x.stride() == y.stride() == out.stride() else torch.empty_like(x.contiguous(), dtype=dtype)


def keep_add(ctx, inputs, output) -> None:
    ctx.given = [(tensor.shape, tensor.dtype) for tensor in inputs]


def backward_add(ctx, dout):
    needed = zip(ctx.given, ctx.needs_input_grad, strict=True)
    return tuple(dout.sum_to_size(shape).to(dtype) if wanted else None for (shape, dtype), wanted in needed)


add_operator = operator("add(Tensor x, Tensor y) -> Tensor", run_add, fake_add, backward_add, keep_add)


def add_in_graph(x, y):
    return add_operator(x, y)


def check_gelu(x, bias, approximate) -> None:
    check_float_tensor("x", x)
    check_approximate("approximate", approximate)
    if bias is not None:
        check_row("bias", bias, "x", x)


def run_gelu(x, bias, approximate):
    check_gelu(x, bias, approximate)
    return gelu_forward(x, bias, approximate)


def fake_gelu(x, bias, approximate):
    check_gelu(x, bias, approximate)
    y = torch.empty_like(x)
    return torch.empty_like(x.contiguous()) if bias is not None or x.stride() != y.stride() else y


def run_gelu_backward(x, bias, dy, approximate):
    dx, dbias = gelu_backward(x, bias, dy, approximate)
    return dx, x.new_empty(0) if dbias is None else dbias


def fake_gelu_backward(x, bias, dy, approximate):
    dx = torch.empty_like(x)
    if bias is not None or not x.stride() == dy.stride() == dx.stride():
        dx = torch.empty_like(x.contiguous())
    return dx, x.new_empty(0) if bias is None else bias.new_empty(bias.shape)


gelu_backward_operator = operator(
    "gelu_backward(Tensor x, Tensor? bias, Tensor dy, str approximate) -> (Tensor, Tensor)",
    run_gelu_backward,
    fake_gelu_backward,
)


def keep_gelu(ctx, inputs, output) -> None:
    x, bias, ctx.approximate = inputs
    ctx.save_for_backward(x, bias)


def backward_gelu(ctx, dy):
    x, bias = ctx.saved_tensors
    dx, dbias = gelu_backward_operator(x, bias, dy, ctx.approximate)
    return dx, None if bias is None else dbias, None


gelu_operator = operator(
    "gelu(Tensor x, Tensor? bias, str approximate) -> Tensor", run_gelu, fake_gelu, backward_gelu, keep_gelu
)


def gelu_in_graph(x, bias=None, approximate="none"):
    return gelu_operator(x, bias, approximate)


def check_gated_unit(gate, up, kind) -> None:
    check_float_tensor("gate", gate)
    check_like("up", up, "gate", gate)
    if kind != "silu":
        check_approximate("approximate", kind)


def run_gated_unit(gate, up, kind):
    check_gated_unit(gate, up, kind)
    return gated_unit_forward(gate, up, kind)


def fake_gated_unit(gate, up, kind):
    check_gated_unit(gate, up, kind)
    return torch.empty_like(gate, memory_format=torch.contiguous_format)


def fake_gated_unit_backward(gate, up, dy, kind):
    return tuple(torch.empty_like(gate, memory_format=torch.contiguous_format) for _ in range(2))


gated_unit_backward_operator = operator(
    "gated_unit_backward(Tensor gate, Tensor up, Tensor dy, str kind) -> (Tensor, Tensor)",
    gated_unit_backward,
    fake_gated_unit_backward,
)


def keep_gated_unit(ctx, inputs, output) -> None:
    gate, up, ctx.kind = inputs
    ctx.save_for_backward(gate, up)


def backward_gated_unit(ctx, dy):
    return *gated_unit_backward_operator(*ctx.saved_tensors, dy, ctx.kind), None


gated_unit_operator = operator(
    "gated_unit(Tensor gate, Tensor up, str kind) -> Tensor",
    run_gated_unit,
    fake_gated_unit,
    backward_gated_unit,
    keep_gated_unit,
)


def swiglu_in_graph(gate, up):
    return gated_unit_operator(gate, up, "silu")


def geglu_in_graph(gate, up, approximate="tanh"):
    return gated_unit_operator(gate, up, approximate)
