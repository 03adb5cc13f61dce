"""PyTorch's samples for sums and maxima, given to the library."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernels on the CPU.")

from snippets.outside.samples import ask

# --8<-- [start:ask]
from kernels.functional import amax, sum
from kernels.reductions import max

failed = [
    ask("sum", sum, "sum"),
    ask("amax", amax, "amax"),
    ask("max, no dimension", max, "max", "reduction_no_dim"),
    ask("max, one dimension", max, "max", "reduction_with_dim"),
]
assert not any(failed)
# --8<-- [end:ask]
