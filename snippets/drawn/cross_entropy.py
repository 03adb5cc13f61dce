"""Cross-entropy at 48 drawn shapes, alone and with its gradient, beside PyTorch eager and torch.compile.

Liger-Kernel's is no peer here: it reads a number back on the host, so it cannot be replayed from a CUDA graph.
"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)


import torch.nn.functional as F

from kernels.cross_entropy import cross_entropy
from kernels.tools.drawn import Drawn, draw_rows


def with_gradient(function, x, target):
    """Loss and gradient together: what a training step pays."""
    leaf = x.detach().requires_grad_()
    return lambda: torch.autograd.grad(function(leaf, target), leaf)[0]


drawn = Drawn("cross_entropy")
for case in drawn.each(draw_rows(drawn.seed)):
    torch.compiler.reset()
    x = torch.randn(case.rows, case.columns, device="cuda").to(case.dtype)
    target = torch.randint(0, case.columns, (case.rows,), device="cuda")
    compiled = torch.compile(F.cross_entropy, dynamic=False)
    functions = {"blockwise": cross_entropy, "eager": F.cross_entropy, "compile": compiled}
    exact = x.double().requires_grad_()
    expected = F.cross_entropy(exact, target)
    (gradient,) = torch.autograd.grad(expected, exact)
    alone = {name: lambda f=f: f(x, target) for name, f in functions.items()}
    with torch.no_grad():
        drawn.timed(case, "fwd", alone, [expected], x.nbytes, None)
    both = {name: with_gradient(f, x, target) for name, f in functions.items()}
    drawn.timed(case, "fwdbwd", both, [gradient], 2 * x.nbytes, None)
drawn.finish()
