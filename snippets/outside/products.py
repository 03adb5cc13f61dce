"""PyTorch's samples for products and attention, given to the library."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from snippets.outside.samples import ask

# --8<-- [start:ask]
from kernels.attention import attention
from kernels.matmul import matmul


def without_dropout(function):
    """PyTorch's attention has dropout inside; ours has none, so a probability of zero is all that it takes."""

    def call(q, k, v, dropout_p=0.0, **named):
        if dropout_p:
            raise NotImplementedError("dropout_p: ours drops nothing")
        return function(q, k, v, **named)

    return call


failed = [
    ask("matmul, as mm", matmul, "mm"),
    ask("matmul", matmul, "matmul"),
    ask("attention", attention, "nn.functional.scaled_dot_product_attention", adapt=without_dropout),
]
assert not any(failed)
# --8<-- [end:ask]
