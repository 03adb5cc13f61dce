"""Zeros times whatever lies behind b: a tile of a is masked along K, the tile of b is not."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:half_masked]
@triton.jit
def half_masked_kernel(a_ptr, b_ptr, c_ptr, K, MASK_B: tl.constexpr, SIDE: tl.constexpr):
    # One tile, and one step of SIDE along K. The step is longer than K is.
    lines, inner = tl.arange(0, SIDE), tl.arange(0, SIDE)
    a = tl.load(a_ptr + lines[:, None] * K + inner[None, :], mask=(inner < K)[None, :], other=0.0)
    b_ptrs = b_ptr + inner[:, None] * SIDE + lines[None, :]
    if MASK_B:
        b = tl.load(b_ptrs, mask=(inner < K)[:, None], other=0.0)
    else:  # a is zero there, and zero times anything is zero. Is it?
        b = tl.load(b_ptrs)
    tl.store(c_ptr + lines[:, None] * SIDE + lines[None, :], tl.dot(a, b))


device = "cuda" if torch.cuda.is_available() else "cpu"
memory = torch.ones(16, 16, dtype=torch.float16, device=device)
memory[10:] = float("nan")  # what happens to lie behind b
a = torch.ones(16, 10, dtype=torch.float16, device=device)
for mask_b in (False, True):
    c = torch.empty(16, 16, device=device)
    half_masked_kernel[(1,)](a, memory[:10], c, 10, mask_b, 16)
    print(f"b masked: {mask_b}, NaN in {int(c.isnan().sum())} of {c.numel()} elements")
    #> b masked: False, NaN in 256 of 256 elements
    #> b masked: True, NaN in 0 of 256 elements
# --8<-- [end:half_masked]
