"""Two layers that are given one seed drop the same elements."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:shared]
from kernels.dropout import dropout

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(4096, device=device)
once = dropout(x, 0.5, seed=7)
twice = dropout(once, 0.5, seed=7)  # meant to drop half of what was left
print("left:", int((twice != 0).sum()), "of", int((once != 0).sum()))
#> left: 2085 of 2085
apart = dropout(once, 0.5, seed=8)
print("left:", int((apart != 0).sum()), "of", int((once != 0).sum()))
#> left: 1046 of 2085
# --8<-- [end:shared]
assert torch.equal(twice == 0, once == 0)
