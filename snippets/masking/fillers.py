"""What the masked lanes must hold, for three ways to turn a block into one number."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:fillers]
@triton.jit
def fold_kernel(
    x_ptr, out_ptr, n_elements,
    OTHER: tl.constexpr, BLOCK: tl.constexpr,
):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n_elements, other=OTHER)
    tl.store(out_ptr, tl.max(x, axis=0))
    tl.store(out_ptr + 1, tl.sum(x, axis=0))
    tl.store(out_ptr + 2 + lanes, tl.cumprod(x, axis=0))  # the last: the product


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([-3.0, -1.0, -2.0, -5.0, -4.0], device=device)
print("PyTorch      ", x.max().item(), x.sum().item(), x.prod().item())
#> PyTorch       -1.0 -15.0 -120.0
for other in (0.0, 1.0, -float("inf")):
    out = torch.empty(2 + 8, device=device)
    fold_kernel[(1,)](x, out, 5, OTHER=other, BLOCK=8)
    print(f"other={other:<7}", out[0].item(), out[1].item(), out[-1].item())
    #> other=0.0     0.0 -15.0 -0.0
    #> other=1.0     1.0 -12.0 -120.0
    #> other=-inf    -1.0 -inf inf
# --8<-- [end:fillers]
assert (out[0], out[1]) == (-1, -float("inf"))
