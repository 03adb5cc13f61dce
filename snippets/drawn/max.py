"""The maximum of all numbers, of each row or of each column, at 48 drawn shapes, beside PyTorch eager and torch.compile.

The harness needs Python's own `max`, so this calls what `kernels.max` calls once its arguments are checked.
"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from typing import NamedTuple

from kernels.reductions.max import max_forward
from kernels.tools.drawn import Drawn, draw_rows


class Along(NamedTuple):
    shape: str
    dtype: torch.dtype


def plain(x, dim):
    return x.max() if dim is None else x.max(dim).values


drawn = Drawn("max")
for number, case in drawn.each(list(enumerate(draw_rows(drawn.seed)))):
    dim, along = [(None, "all"), (1, "rows"), (0, "columns")][number % 3]
    x = torch.randn(case.rows, case.columns, device="cuda").to(case.dtype)
    compiled = torch.compile(plain, dynamic=False)
    functions = {
        "blockwise": lambda x, dim=dim: max_forward(x, dim)[0],
        "eager": lambda x, dim=dim: plain(x, dim),
        "compile": lambda x, dim=dim, compiled=compiled: compiled(x, dim),
    }
    drawn.both(Along(f"{case.shape} {along}", case.dtype), functions, (x,), (x.nbytes, 0), differentiable=0)
drawn.finish()
