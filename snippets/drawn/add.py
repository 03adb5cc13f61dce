"""Addition at 48 drawn shapes beside PyTorch eager and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)


from kernels.add import add
from kernels.tools.drawn import Drawn, draw_rows

drawn = Drawn("add")
for case in drawn.each(draw_rows(drawn.seed)):
    x, y = (torch.randn(case.rows, case.columns, device="cuda").to(case.dtype) for _ in range(2))
    functions = {"blockwise": add, "eager": torch.add, "compile": torch.compile(torch.add, dynamic=False)}
    drawn.both(case, functions, (x, y), (3 * x.nbytes, 0), differentiable=0)  # its gradient is the one that comes in
drawn.finish()
