"""A copy whose programs ask for too little at a time, and two mends."""
# needs: cuda
# counters: slow larger more
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch
import triton
import triton.language as tl

from kernels.tools.benchmark import keep
from snippets.profiling.beside import beside


# --8<-- [start:kernel]
@triton.jit
def walking_copy_kernel(x_ptr, y_ptr, n_blocks, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), n_blocks, tl.num_programs(0)):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))
# --8<-- [end:kernel]


# --8<-- [start:ways]
x = torch.randn(2**26, device="cuda")
y = torch.empty_like(x)
multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count


def walked(programs, block):
    walking_copy_kernel[(programs,)](x, y, x.numel() // block, BLOCK=block)
    return y


WAYS = {"slow": (multiprocessors, 1024), "larger": (multiprocessors, 8192), "more": (16 * multiprocessors, 1024)}
ways = {name: lambda way=way: walked(*way) for name, way in WAYS.items()}
# --8<-- [end:ways]
found = beside(ways, x, 2 * x.nbytes)
for name, (programs, block) in WAYS.items():
    found[name]["under_way"] = programs * block * 4
    print(f"{name:12}{programs:6} programs of {block:5}: {programs * block * 4 / 2**20:5.1f} MiB asked for at a time")
keep(figures=found)
