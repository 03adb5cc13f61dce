"""Cross-entropy at 48 drawn shapes, alone and with its gradient, beside PyTorch eager, torch.compile and Liger-Kernel."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)


import torch.nn.functional as F

from kernels.cross_entropy import cross_entropy
from kernels.tools.drawn import Drawn, draw_rows

try:
    from liger_kernel.transformers.functional import liger_cross_entropy
except ImportError:
    print("liger-kernel is not installed: it is left out")
    liger_cross_entropy = None


def with_gradient(function, x, target):
    """Loss and gradient together: what a training step pays."""
    leaf = (x.clone() if function is liger_cross_entropy else x.detach()).requires_grad_()  # Liger-Kernel writes over it
    return lambda: torch.autograd.grad(function(leaf, target), leaf)[0]


drawn = Drawn("cross_entropy")
for case in drawn.each(draw_rows(drawn.seed)):
    torch.compiler.reset()
    x = torch.randn(case.rows, case.columns, device="cuda").to(case.dtype)
    target = torch.randint(0, case.columns, (case.rows,), device="cuda")
    compiled = torch.compile(F.cross_entropy, dynamic=False)
    functions = {"blockwise": cross_entropy, "eager": F.cross_entropy, "compile": compiled}
    if liger_cross_entropy:
        functions["liger"] = liger_cross_entropy
    exact = x.double().requires_grad_()
    expected = F.cross_entropy(exact, target)
    (gradient,) = torch.autograd.grad(expected, exact)
    alone = {name: lambda f=f: f(x, target) for name, f in functions.items() if f is not liger_cross_entropy}
    with torch.no_grad():
        drawn.timed(case, "fwd", alone, [expected], x.nbytes, None)
    both = {name: with_gradient(f, x, target) for name, f in functions.items()}
    drawn.timed(case, "fwdbwd", both, [gradient], 2 * x.nbytes, None)
drawn.finish()
