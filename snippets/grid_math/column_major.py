"""What goes wrong when row + column * stride addresses a row-major matrix."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:column_major]
@triton.jit
def gather_kernel(x_ptr, out_ptr, N: tl.constexpr, SWAPPED: tl.constexpr):
    rows = tl.arange(0, N)[:, None]
    columns = tl.arange(0, N)[None, :]
    offsets = rows * N + columns
    if SWAPPED:
        offsets = rows + columns * N  # the mistake: the columns are a row apart
    tl.store(out_ptr + rows * N + columns, tl.load(x_ptr + offsets))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.arange(16.0, device=device).reshape(4, 4)
for swapped in (False, True):
    out = torch.zeros_like(x)
    gather_kernel[(1,)](x, out, N=4, SWAPPED=swapped)
    print(f"x: {torch.equal(out, x)}, x transposed: {torch.equal(out, x.T)}")
    #> x: True, x transposed: False
    #> x: False, x transposed: True
# --8<-- [end:column_major]
assert torch.equal(out, x.T), "the mistake this program shows did not happen"
