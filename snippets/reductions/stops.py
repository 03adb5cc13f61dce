"""A count that stops: adding one to a float32 changes nothing once it holds 2**24."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.reductions import histogram

x = torch.full((2**26,), 0.5, device="cuda")
for bins in (4096, 65_536):
    floats = torch.histc(x, bins, min=0, max=1)
    integers = histogram(x, bins, min=0, max=1)
    print(f"{bins:6,} bins: histc counts {floats.max().item():,.0f} of {x.numel():,},", end=" ")
    print(f"integers {integers.max().item():,}")
