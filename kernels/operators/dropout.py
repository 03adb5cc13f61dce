"""The operators of `dropout`: with a seed that is given, and with one that is drawn when the graph runs.

A seed has 64 bits without a sign, and an operator's integers have a sign: seeds from 2**63 on go through as negative ones.
"""

import torch

from kernels.common.arguments import check_float_tensor, check_like, check_probability, check_seed
from kernels.dropout.dropout import dropout_forward
from kernels.operators.register import CUDAGRAPH_UNSAFE, operator


def check_dropout(x, p, residual) -> None:
    check_float_tensor("x", x)
    check_probability("p", p)
    if residual is not None:
        check_like("residual", residual, "x", x)


def run_dropout(x, p, seed, residual):
    check_dropout(x, p, residual)
    return dropout_forward(x, p, seed % 2**64, residual)


def fake_dropout(x, p, seed, residual):
    check_dropout(x, p, residual)
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def keep_dropout(ctx, inputs, output) -> None:
    _, ctx.p, ctx.seed, _ = inputs


def backward_dropout(ctx, dy):
    # Linear in x: the gradient is the same operation on the gradient, with the same seed.
    dx = dropout_operator(dy, ctx.p, ctx.seed, None) if ctx.needs_input_grad[0] else None
    return dx, None, None, dy if ctx.needs_input_grad[3] else None


dropout_operator = operator(
    "dropout(Tensor x, float p, SymInt seed, Tensor? residual) -> Tensor",
    run_dropout,
    fake_dropout,
    backward_dropout,
    keep_dropout,
    CUDAGRAPH_UNSAFE,
)


def run_dropout_again(dy, p, seed):
    return dropout_forward(dy, p, int(seed), None)


def fake_dropout_again(dy, p, seed):
    return torch.empty_like(dy, memory_format=torch.contiguous_format)


dropout_again_operator = operator(
    "dropout_again(Tensor dy, float p, Tensor seed) -> Tensor", run_dropout_again, fake_dropout_again, tags=CUDAGRAPH_UNSAFE
)


def run_dropout_drawn(x, p, residual, call):
    check_dropout(x, p, residual)
    seed = torch.randint(2**63 - 1, ())
    return dropout_forward(x, p, int(seed), residual), seed


def fake_dropout_drawn(x, p, residual, call):
    return fake_dropout(x, p, 0, residual), torch.empty((), dtype=torch.int64)


def keep_dropout_drawn(ctx, inputs, output) -> None:
    ctx.p = inputs[1]
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(output[1])


def backward_dropout_drawn(ctx, dy, _):
    dx = dropout_again_operator(dy, ctx.p, *ctx.saved_tensors) if ctx.needs_input_grad[0] else None
    return dx, None, dy if ctx.needs_input_grad[2] else None, None


dropout_drawn_operator = operator(
    "dropout_drawn(Tensor x, float p, Tensor? residual, Tensor call) -> (Tensor, Tensor)",
    run_dropout_drawn,
    fake_dropout_drawn,
    backward_dropout_drawn,
    keep_dropout_drawn,
    tags=(torch.Tag.nondeterministic_seeded, *CUDAGRAPH_UNSAFE),
)


def dropout_in_graph(x, p=0.5, seed=None, residual=None):
    if seed is None:
        # The compiler makes one of equal calls. Each has an empty tensor of its own here, and so none is equal to another.
        return dropout_drawn_operator(x, p, residual, torch.empty(0, device=x.device))[0]
    check_seed("seed", seed)
    return dropout_operator(x, p, seed if seed < 2**63 else seed - 2**64, residual)
