"""What goes wrong when a kernel assumes row-major and is given a transposed view."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:ignored_strides]
@triton.jit
def flat_copy_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
view = torch.arange(6.0, device=device).reshape(2, 3).T
out = torch.empty(3, 2, device=device)
flat_copy_kernel[(1,)](view, out, 6, BLOCK=8)  # the mistake: what of the view's strides?
print("wanted:", view.tolist())
#> wanted: [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
print("got:   ", out.tolist())
#> got:    [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
# --8<-- [end:ignored_strides]
assert not torch.equal(out, view), "the mistake this program shows did not happen"
