"""What goes wrong when two one-dimensional aranges are added: only the diagonal is touched."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:diagonal]
@triton.jit
def diagonal_kernel(out_ptr, stride, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    columns = tl.arange(0, BLOCK)
    offsets = rows * stride + columns  # the mistake: [BLOCK] and not [BLOCK, BLOCK]
    tl.store(out_ptr + offsets, 1.0)


device = "cuda" if torch.cuda.is_available() else "cpu"
out = torch.zeros(16, 16, device=device)
diagonal_kernel[(1,)](out, 16, BLOCK=16)
print(f"{int(out.sum())} of {out.numel()} elements were written")
#> 16 of 256 elements were written
print("the diagonal:", torch.equal(out, torch.eye(16, device=device)))
#> the diagonal: True
# --8<-- [end:diagonal]
assert out.sum() == 16, "the mistake this program shows did not happen"
