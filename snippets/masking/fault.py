"""How far past the end of a tensor must a load reach before the GPU objects?"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:fault]
@triton.jit
def far_load_kernel(x_ptr, out_ptr, distance):
    tl.store(out_ptr, tl.load(x_ptr + distance))


x = torch.ones(1000, device="cuda")
out = torch.zeros(1, device="cuda")
for k in range(18, 41, 2):
    far_load_kernel[(1,)](x, out, 2**k)
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        print(f"element 2^{k}: {str(error).splitlines()[0]}")
        break
    print(f"element 2^{k}: no objection")
try:
    torch.zeros(1, device="cuda")
except RuntimeError as error:
    print(f"an innocent line after that: {str(error).splitlines()[0]}")
# --8<-- [end:fault]
assert 18 < k < 40, "the mistake this program shows did not happen"
