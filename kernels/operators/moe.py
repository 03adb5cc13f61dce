"""The operator of a mixture of experts."""

import torch

from kernels.moe.moe import check_moe_arguments, moe
from kernels.operators.register import operator


def run_moe(x, logits, w_gate, w_up, w_down, k, renormalize):
    return moe(x, logits, w_gate, w_up, w_down, k, renormalize)


def fake_moe(x, logits, w_gate, w_up, w_down, k, renormalize):
    check_moe_arguments(x, logits, w_gate, w_up, w_down, k, renormalize)
    return torch.empty_like(x, memory_format=torch.contiguous_format)


moe_operator = operator(
    "moe(Tensor x, Tensor logits, Tensor w_gate, Tensor w_up, Tensor w_down, int k, bool renormalize) -> Tensor",
    run_moe,
    fake_moe,
)


def moe_in_graph(x, logits, w_gate, w_up, w_down, k, renormalize=True):
    return moe_operator(x, logits, w_gate, w_up, w_down, k, renormalize)
