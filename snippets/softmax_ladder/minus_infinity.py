"""What goes wrong in the online sum: a block of nothing but minus infinity."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:minus_infinity]
@triton.jit
def masked_out_kernel(
    x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr, SHIFT: tl.constexpr
):
    m = -float("inf")
    s = 0.0
    for start in range(0, n_columns, BLOCK):
        x = tl.load(x_ptr + start + tl.arange(0, BLOCK))
        new_m = tl.maximum(m, tl.max(x, axis=0))
        shift = new_m
        if SHIFT:  # the cure: subtract zero where nothing but minus infinity has come
            shift = tl.where(new_m == -float("inf"), 0.0, new_m)
        s = s * tl.exp(m - shift) + tl.sum(tl.exp(x - shift), axis=0)
        m = new_m
    tl.store(out_ptr, s)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.zeros(8, device=device)
x[:4] = -torch.inf  # an attention mask that hides the first block
s = torch.empty((), device=device)
for shift in (False, True):
    masked_out_kernel[(1,)](x, s, 8, BLOCK=4, SHIFT=shift)
    print("with the cure:" if shift else "without:", s.item())
    #> without: nan
    #> with the cure: 4.0
# --8<-- [end:minus_infinity]
assert s.item() == 4
