"""What `torch.utils.flop_counter` counts for the operators: two operations for each pair of numbers that is multiplied.

PyTorch counts a causal mask as if it were none, and the second product of scores in the backward pass as one more; so do these.
"""

import math
from typing import Any

import torch
from torch.utils.flop_counter import register_flop_formula


def matmul_flops(a, b, *_: Any, **named: Any) -> int:
    return 2 * a[0] * a[1] * b[1]


def layer_norm_linear_flops(x, ln_weight, ln_bias, weight, *_: Any, **named: Any) -> int:
    return 2 * math.prod(x) * weight[0]


def linear_cross_entropy_flops(x, weight, target, bias, *options: Any, **named: Any) -> int:
    *_, wanted = options
    return 2 * x[0] * x[1] * weight[0] * (1 + sum(wanted[:2]))


def linear_cross_entropy_backward_flops(x, weight, target, bias, dloss, *options: Any, **named: Any) -> int:
    *_, wanted = options
    return 2 * x[0] * x[1] * weight[0] * (1 + sum(wanted[:2]))


def attention_flops(q, k, *_: Any, **named: Any) -> int:
    return 4 * math.prod(q) * k[2]


def attention_backward_flops(q, k, *_: Any, **named: Any) -> int:
    return 10 * math.prod(q) * k[2]


FLOPS: dict[str, Any] = {
    "matmul": matmul_flops,
    "scaled_matmul": matmul_flops,
    "layer_norm_linear": layer_norm_linear_flops,
    "linear_cross_entropy": linear_cross_entropy_flops,
    "linear_cross_entropy_backward": linear_cross_entropy_backward_flops,
    "attention": attention_flops,
    "attention_backward": attention_backward_flops,
}


for name, formula in FLOPS.items():
    register_flop_formula(getattr(torch.ops.blockwise, name))(formula)
