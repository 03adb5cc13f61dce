"""A maximum that loses NaN, and one that keeps it."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:nan]
@triton.jit
def two_maxima_kernel(x_ptr, plain_ptr, careful_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    plain = tl.max(x, axis=0)
    any_nan = tl.max((x != x).to(tl.int32), axis=0) > 0  # only NaN differs from itself
    tl.store(plain_ptr, plain)
    tl.store(careful_ptr, tl.where(any_nan, float("nan"), plain))


x = torch.arange(64.0, device="cuda")
x[10] = float("nan")
plain, careful = torch.zeros(2, device="cuda")
two_maxima_kernel[(1,)](x, plain, careful, BLOCK=64)
print(f"tl.max {plain.item()}, careful {careful.item()}, PyTorch {x.max().item()}")
# --8<-- [end:nan]
