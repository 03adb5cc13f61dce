"""The interpreter is turned on after triton was imported."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of, error_of_program

device = "cuda" if torch.cuda.is_available() else "cpu"

# --8<-- [start:wrong]
imports = """
import os
import torch
import triton
import triton.language as tl
"""
switch = """
os.environ["TRITON_INTERPRET"] = "1"  # the mistake
"""
kernel = """
@triton.jit
def sum_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))
"""
launch = """
sum_kernel[(1,)](torch.rand(128), torch.empty(1), BLOCK=128)
"""
nothing = {"CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": None}
said = error_of_program(imports + switch + kernel + launch, **nothing)
# --8<-- [end:wrong]
print(said)

# --8<-- [start:wrong_later]
said = error_of_program(imports + kernel + switch + launch, **nothing)
# --8<-- [end:wrong_later]
print(said)

# --8<-- [start:right]
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))


x = torch.rand(128, device=device)
y = torch.empty(1, device=device)
sum_kernel[(1,)](x, y, BLOCK=128)
print(torch.allclose(y, x.sum()))
#> True
# --8<-- [end:right]
