"""PyTorch's samples for additions and GELU, given to the library."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from snippets.outside.samples import ask

# --8<-- [start:ask]
from kernels.add import add
from kernels.functional import gelu

failed = [
    ask("add", add, "add"),
    ask("gelu", gelu, "nn.functional.gelu"),
]
assert not any(failed)
# --8<-- [end:ask]
