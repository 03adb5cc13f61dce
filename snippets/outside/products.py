"""PyTorch's samples for products and attention, given to the library."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from snippets.outside.samples import ask

# --8<-- [start:ask]
from kernels.functional import linear, scaled_dot_product_attention
from kernels.matmul import matmul

failed = [
    ask("matmul, as mm", matmul, "mm"),
    ask("matmul", matmul, "matmul"),
    ask("linear", linear, "nn.functional.linear"),
    ask("attention", scaled_dot_product_attention, "nn.functional.scaled_dot_product_attention"),
]
assert not any(failed)
# --8<-- [end:ask]
