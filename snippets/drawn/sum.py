"""The sum of all numbers, of each row or of each column, at 48 drawn shapes, beside PyTorch eager and torch.compile.

The harness needs Python's own `sum`, so this calls what `kernels.sum` calls once its arguments are checked.
"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from typing import NamedTuple

from kernels.reductions.sum import sum_forward
from kernels.tools.drawn import Drawn, draw_rows


class Along(NamedTuple):
    shape: str
    dtype: torch.dtype


def plain(x, dim):
    return x.sum() if dim is None else x.sum(dim)


drawn = Drawn("sum")
for number, case in drawn.each(list(enumerate(draw_rows(drawn.seed)))):
    dim, along = [(None, "all"), (1, "rows"), (0, "columns")][number % 3]
    # A little above zero in the mean, so that no sum of all is so near to it that its last digits are all there is.
    x = (torch.randn(case.rows, case.columns, device="cuda") + 2 * (case.rows * case.columns) ** -0.5).to(case.dtype)
    compiled = torch.compile(plain, dynamic=False)
    functions = {
        "blockwise": lambda x, dim=dim: sum_forward(x, dim),
        "eager": lambda x, dim=dim: plain(x, dim),
        "compile": lambda x, dim=dim, compiled=compiled: compiled(x, dim),
    }
    drawn.both(Along(f"{case.shape} {along}", case.dtype), functions, (x,), (x.nbytes, 0), differentiable=0)
drawn.finish()
