"""The exercise's solution: the mean of every block of a vector, whose last block is not full."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:block_means]
@triton.jit
def block_mean_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    exist = tl.sum(mask.to(tl.int32), axis=0)  # how many lanes are real
    tl.store(out_ptr + pid, tl.sum(x, axis=0) / exist)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(1000, device=device)
means = torch.full((4,), float("nan"), device=device)
block_mean_kernel[(4,)](x, means, 1000, BLOCK=256)
wanted = torch.stack([part.mean() for part in x.split(256)])
torch.testing.assert_close(means, wanted)
print("the means agree with PyTorch")
#> the means agree with PyTorch
# --8<-- [end:block_means]
