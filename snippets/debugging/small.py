"""The same mistake with three numbers, which a reader can check by hand."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from snippets.debugging.suspect import scale_rows

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [start:small]
x = torch.tensor([[1.0, 2.0, 3.0]], device=device)
ones = torch.ones(3, device=device)
y = scale_rows(x, ones, eps=0.0)
print(f"divided by the root of {(x / y).square().mean().item():.3f}")
#> divided by the root of 3.500
# --8<-- [end:small]
