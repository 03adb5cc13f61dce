"""A kernel that stores past the end of its tensor: what a memory checker has to find before its silence counts."""
# needs: cuda
# sanitizers: memcheck
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


@triton.jit
def unmasked_store_kernel(out_ptr, BLOCK: tl.constexpr):
    # This program stores a whole block, mask or no mask.
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    tl.store(out_ptr + offsets, offsets)


out = torch.zeros(1000, dtype=torch.int32, device="cuda")
unmasked_store_kernel[(4,)](out, BLOCK=256)
assert torch.equal(out.cpu(), torch.arange(1000, dtype=torch.int32))
print("the 1000 elements of the tensor are right, and 24 elements behind it were overwritten")
