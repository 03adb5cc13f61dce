"""Sum 32 long rows: a program for each row, and 64 programs for each row."""
# needs: cuda
# counters: slow mended
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
def part_sum_kernel(x_ptr, sums_ptr, n_columns, part_columns, BLOCK: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, part_columns, BLOCK):
        offsets = part * part_columns + start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n_columns + offsets)
    tl.store(sums_ptr + row * tl.num_programs(1) + part, tl.sum(total, axis=0))
# --8<-- [end:kernel]


# --8<-- [start:ways]
rows, n_columns = 32, 2**21
x = torch.randn(rows, n_columns, device="cuda")


def summed(parts):
    sums = torch.empty(rows, parts, device="cuda")
    part_sum_kernel[(rows, parts)](x, sums, n_columns, n_columns // parts, BLOCK=4096, num_warps=8)
    return sums.sum(1)


ways = {"slow": lambda: summed(1), "mended": lambda: summed(64)}
# --8<-- [end:ways]
found = beside(ways, x.double().sum(1), x.nbytes, tolerance=1e-3)
found["multiprocessors"] = torch.cuda.get_device_properties(0).multi_processor_count
print(f"{rows} programs or {64 * rows}, and {found['multiprocessors']} multiprocessors")
keep(figures=found)
