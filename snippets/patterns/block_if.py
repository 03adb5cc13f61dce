"""What goes wrong when a program branches on a block. A branch on one number is fine."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:block_if]
def on_a_block(x_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    if x > 0:  # the mistake: 16 answers, and a program can only go one way
        tl.store(out_ptr + offsets, x)


def on_a_number(x_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    if tl.program_id(0) == 0:  # one answer for the whole program
        tl.store(out_ptr + offsets, x)


def lane_by_lane(x_ptr, out_ptr):
    offsets = tl.arange(0, 16)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x, mask=x > 0)  # each lane has its own answer


x = torch.arange(-8.0, 8.0, device="cuda")
for function in (on_a_block, on_a_number, lane_by_lane):
    out = torch.full_like(x, float("nan"))
    try:
        triton.jit(function)[(1,)](x, out)
        print(f"{function.__name__}: {16 - out.isnan().sum()} elements written")
    except triton.CompilationError as error:
        print(f"{function.__name__}: {str(error).strip().splitlines()[-1]}")
# --8<-- [end:block_if]
