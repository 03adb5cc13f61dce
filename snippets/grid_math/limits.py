"""Ask the GPU for ever larger grids, and print what it answers."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl


# --8<-- [start:limits]
@triton.jit
def count_programs_kernel(count_ptr):
    tl.atomic_add(count_ptr, 1)


count = torch.zeros(1, dtype=torch.int32, device="cuda")
grids = [(1_000_000,), (1, 65_535), (1, 65_536), (1, 1, 65_535), (1, 1, 65_536)]
grids += [(1, 0), (2, 3, 4, 5), (-1,), (2**31,)]
for grid in grids:
    count.zero_()
    try:
        count_programs_kernel[grid](count)
        print(f"{grid}: {count.item():,} programs ran")
    except Exception as error:
        print(f"{grid}: {type(error).__name__}: {error}")
# --8<-- [end:limits]
