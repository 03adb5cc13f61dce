"""Two ways to the variance of one row: from the squares, and from the distances to the mean."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

# --8<-- [start:mean_first]
@triton.jit
def two_variances_kernel(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + columns, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_columns
    squares = tl.sum(x * x, axis=0) / n_columns - mean * mean  # the mistake
    centered = tl.where(mask, x - mean, 0.0)
    distances = tl.sum(centered * centered, axis=0) / n_columns
    tl.store(out_ptr, squares)
    tl.store(out_ptr + 1, distances)


device = "cuda" if torch.cuda.is_available() else "cpu"
row = torch.tensor([-1.0, 1.0], device=device).repeat(256)  # its variance is 1
out = torch.empty(2, device=device)
for mean in (0, 8192):
    two_variances_kernel[(1,)](row + mean, out, 512, BLOCK=1024)
    print(f"mean {mean}: from squares {out[0].item()}, from distances {out[1].item()}")
    #> mean 0: from squares 1.0, from distances 1.0
    #> mean 8192: from squares 0.0, from distances 1.0
# --8<-- [end:mean_first]
