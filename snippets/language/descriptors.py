"""Load and store a tile through a tensor descriptor, which knows the tensor's shape."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

# --8<-- [start:descriptors]
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def tile_plus_one_kernel(x_desc, out_desc):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    tile = x_desc.load([4 * pid_m, 4 * pid_n])  # [4, 4]; what lies outside is 0, without a mask
    out_desc.store([4 * pid_m, 4 * pid_n], tile + 1)  # what lies outside is not written


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.zeros((6, 8), device=device)
out = torch.full_like(x, -1)
x_desc, out_desc = (TensorDescriptor.from_tensor(t, [4, 4]) for t in (x, out))
tile_plus_one_kernel[(2, 2)](x_desc, out_desc)
print("every element was written once:", bool((out == 1).all()))
#> every element was written once: True
# --8<-- [end:descriptors]
