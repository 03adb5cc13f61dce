"""Turn a matrix line by line, whose stores lie far apart, and tile by tile."""
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
def turn_part_kernel(x_ptr, y_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + rows[:, None] * n + columns[None, :])
    tl.store(y_ptr + columns[None, :] * n + rows[:, None], x)
# --8<-- [end:kernel]


# --8<-- [start:ways]
n = 8192
x = torch.randn(n, n, device="cuda")
y = torch.empty_like(x)


def turned(rows, columns):
    turn_part_kernel[(n // rows, n // columns)](x, y, n, ROWS=rows, COLUMNS=columns)
    return y


ways = {"slow": lambda: turned(1, 2048), "mended": lambda: turned(64, 32)}
# --8<-- [end:ways]
keep(figures=beside(ways, x.t(), 2 * x.nbytes))
