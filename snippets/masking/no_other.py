"""What a masked lane holds when nothing says what it should hold: nothing that Triton promises."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:no_other]
@triton.jit
def undefined_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n_elements)  # the mistake: no other
    tl.store(out_ptr, tl.max(x, axis=0))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([-3.0, -1.0, -2.0, -5.0, -4.0], device=device)
out = torch.empty(1, device=device)
undefined_kernel[(1,)](x, out, 5, BLOCK=8)
print("the largest of five negative numbers:", out.item())
#> the largest of five negative numbers: 0.0
# --8<-- [end:no_other]
assert out.item() != -1, "the mistake this program shows did not happen"
