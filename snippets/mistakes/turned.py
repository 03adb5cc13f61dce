"""A transposed matrix, given to a kernel that counts through memory from the first address."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:turned]
@triton.jit
def double_flat_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)  # the mistake: no strides
    tl.store(out_ptr + offsets, 2 * x, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device).T
out = torch.full(x.shape, float("nan"), device=device)
double_flat_kernel[(1,)](x, out, 6, BLOCK=8)
print("twice", x.tolist())
#> twice [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
print("is   ", out.tolist())
#> is    [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]
# --8<-- [end:turned]
assert not torch.equal(out, 2 * x), "the mistake this program shows did not happen"
