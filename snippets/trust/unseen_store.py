"""A kernel that writes every element through a tensor descriptor, which Compute Sanitizer's initcheck does not see."""
# needs: cuda
# sanitizers: initcheck
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def described_store_kernel(out_desc, BLOCK: tl.constexpr):
    # This program stores BLOCK rows of 64 elements.
    out_desc.store([tl.program_id(0) * BLOCK, 0], tl.full((BLOCK, 64), 1.0, tl.float32))


out = torch.empty((256, 64), device="cuda")
described_store_kernel[(4,)](TensorDescriptor(out, [256, 64], [64, 1], [64, 64]), BLOCK=64)
assert bool((out == 1).all())
print("every element is written, and right")
