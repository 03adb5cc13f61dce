"""An address that the process does not own, read by a kernel in a process of its own, which is lost afterwards."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.errors import error_of_program

# --8<-- [start:wrong]
program = """
import torch
import triton
import triton.language as tl

@triton.jit
def lookup_kernel(table_ptr, ids_ptr, y_ptr):
    row = tl.load(ids_ptr + tl.program_id(0))
    tl.store(y_ptr + tl.program_id(0), tl.load(table_ptr + row))

table, y = torch.rand(1000, device="cuda"), torch.empty(3, device="cuda")
ids = torch.tensor([5, {}, 7], device="cuda")
lookup_kernel[(3,)](table, ids, y)
try:
    y.sum().item()
except RuntimeError as error:
    raise SystemExit(str(error).splitlines()[0])  # the other lines are general advice
"""
said = error_of_program(program.format("2**40"))  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
print(error_of_program(program.format("999")) == "no error")
# --8<-- [end:right]
