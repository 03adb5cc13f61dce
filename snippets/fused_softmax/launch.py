"""Softmax with one program a row, checked against PyTorch."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.softmax.softmax import softmax_kernel

# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(100, 781, device=device)
y = torch.empty_like(x)

block = triton.next_power_of_2(781)
print("lanes a program:", block)
#> lanes a program: 1024

softmax_kernel[(100,)](x, y, x.stride(0), y.stride(0), 781, BLOCK=block)
torch.testing.assert_close(y, torch.softmax(x, dim=-1))
print("every row sums to one:", bool(((y.sum(-1) - 1).abs() < 1e-5).all()))
#> every row sums to one: True
# --8<-- [end:launch]
