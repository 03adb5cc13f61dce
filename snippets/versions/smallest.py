"""The four smallest of a block, and the five largest, which there are not."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:before]
@triton.jit
def ascending_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.store(out_ptr + tl.arange(0, 4), tl.topk(x, 4, descending=False))


x = torch.arange(16, device=device).flip(0)
out = torch.zeros(4, dtype=torch.int64, device=device)
said = error_of(lambda: ascending_kernel[(1,)](x, out))
# --8<-- [end:before]
print(out.tolist(), said.splitlines()[-1])


# --8<-- [start:after]
@triton.jit
def smallest_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.store(out_ptr + tl.arange(0, 4), -tl.topk(-x, 4))


smallest_kernel[(1,)](x, out)
print(out.tolist())
#> [0, 1, 2, 3]
# --8<-- [end:after]
