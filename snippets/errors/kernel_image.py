"""A compiled kernel whose place on the disk was taken and never written, as a machine that lost its power leaves it."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import tempfile
from pathlib import Path

from kernels.tools.errors import error_of_program

# --8<-- [start:wrong]
program = """
import torch
import triton
import triton.language as tl

@triton.jit
def double_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))

double_kernel[(1,)](torch.rand(128, device="cuda"), torch.empty(128, device="cuda"), BLOCK=128)
"""
cache = tempfile.mkdtemp()
first = error_of_program(program, TRITON_CACHE_DIR=cache)
for image in Path(cache).rglob("*.cubin"):
    image.write_bytes(bytes(image.stat().st_size))  # the mistake: zeros, where a kernel was to be
said = error_of_program(program, TRITON_CACHE_DIR=cache)
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
import shutil

shutil.rmtree(cache)
print(first == error_of_program(program, TRITON_CACHE_DIR=cache) == "no error")
# --8<-- [end:right]
