"""Two tensors made one after the other, and a kernel without a mask that writes past the end of the first."""
# needs: cuda
# sanitizer: memcheck
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:neighbor]
@triton.jit
def unmasked_double_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets))  # the mistake


x = torch.ones(1000, device="cuda")
neighbor = torch.full((1000,), 100.0, device="cuda")
unmasked_double_kernel[(2,)](x, BLOCK=1024)
torch.cuda.synchronize()
print("doubled numbers of x:", int((x == 2).sum()))
print("doubled numbers of the neighbor:", int((neighbor == 200).sum()))
print("bytes between the two:", neighbor.data_ptr() - x.data_ptr() - x.nbytes)
# --8<-- [end:neighbor]
assert (neighbor == 200).any(), "the mistake this program shows did not happen"
