"""The solution: the empty lane holds zero before the mean is taken off, and minus the mean after."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:solution]
@triton.jit
def spread_mended_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_columns
    centered = tl.where(mask, x - mean, 0.0)
    tl.store(out_ptr + row, tl.sum(centered * centered, axis=0) / n_columns)


x = torch.tensor([[1.0, 2.0, 6.0]], device=device)
out = torch.empty(1, device=device)
spread_mended_kernel[(1,)](x, out, 3, BLOCK=4)
print(f"{out.item():.3f}, and PyTorch says {x.var(dim=1, correction=0).item():.3f}")
#> 4.667, and PyTorch says 4.667
# --8<-- [end:solution]
