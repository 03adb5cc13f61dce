"""A kernel is launched where there is no GPU, and the interpreter is off."""
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
program = """
import torch
import triton
import triton.language as tl

@triton.jit
def double_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))

double_kernel[(1,)](torch.rand(128), torch.empty(128), BLOCK=128)
"""
said = error_of_program(program, CUDA_VISIBLE_DEVICES="", TRITON_INTERPRET=None)  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before the next line

import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))


x = torch.rand(128, device=device)
y = torch.empty_like(x)
double_kernel[(1,)](x, y, BLOCK=128)
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
