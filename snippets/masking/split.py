"""Only the last program needs a mask: one kernel with a path for each."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:split]
@triton.jit
def split_negate_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    if start + BLOCK <= n_elements:  # one answer for the whole program
        tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets))
    else:
        mask = offsets < n_elements
        x = tl.load(x_ptr + offsets, mask=mask)
        tl.store(out_ptr + offsets, -x, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(10_001, device=device)
out = torch.full_like(x, float("nan"))
split_negate_kernel[(triton.cdiv(10_001, 1024),)](x, out, 10_001, BLOCK=1024)
print("same as PyTorch:", torch.equal(out, -x))
#> same as PyTorch: True
# --8<-- [end:split]
assert torch.equal(out, -x)
