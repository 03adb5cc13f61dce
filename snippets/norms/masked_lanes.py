"""What masked lanes do to a variance when they are not set back to zero."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

# --8<-- [start:masked_lanes]
@triton.jit
def unmasked_variance_kernel(x_ptr, variance_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + columns, mask=mask, other=0.0)
    # The mistake: masked lanes hold minus the mean now.
    centered = x - tl.sum(x, axis=0) / n_columns
    tl.store(variance_ptr, tl.sum(centered * centered, axis=0) / n_columns)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([9.0, 10.0, 11.0, 10.0, 10.0], device=device)
variance = torch.empty(1, device=device)
unmasked_variance_kernel[(1,)](x, variance, 5, BLOCK=8)
print(f"expected {x.var(correction=0).item():.2f}, got {variance.item():.2f}")
#> expected 0.40, got 60.40
# --8<-- [end:masked_lanes]
