"""A filler that is right for the sum and gone before the sum: exp(0) is 1."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:exponentials]
@triton.jit
def exp_sum_kernel(x_ptr, out_ptr, n_elements, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n_elements, other=OTHER)
    tl.store(out_ptr, tl.sum(tl.exp(x), axis=0))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.zeros(5, device=device)  # exp(0) is 1, so the sum is 5
for other in (0.0, -float("inf")):
    out = torch.empty(1, device=device)
    exp_sum_kernel[(1,)](x, out, 5, OTHER=other, BLOCK=8)
    print(f"other={other}: {out.item()}")
    #> other=0.0: 8.0
    #> other=-inf: 5.0
# --8<-- [end:exponentials]
