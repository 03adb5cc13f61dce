"""A grid whose second axis is longer than a GPU allows."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.errors import error_of


# --8<-- [start:wrong]
@triton.jit
def number_kernel(y_ptr, AXIS: tl.constexpr):
    tl.store(y_ptr + tl.program_id(AXIS), tl.program_id(AXIS))


y = torch.empty(70_000, dtype=torch.int32, device="cuda")
said = error_of(lambda: number_kernel[(1, 70_000)](y, AXIS=1))  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
number_kernel[(70_000,)](y, AXIS=0)
print(torch.equal(y, torch.arange(70_000, dtype=torch.int32, device="cuda")))
# --8<-- [end:right]
