"""Errors of the norms against float64, beside PyTorch's own, forward and backward."""
# needs: cuda
# --8<-- [start:imports]
import sys

import torch
import torch.nn.functional as F
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
# --8<-- [start:accuracy]
from kernels.norm import layer_norm


def results(function, leaves, dy):
    """The result and the gradients of everything that went in."""
    leaves = [t.detach().requires_grad_() for t in leaves]
    y = function(*leaves)
    return [y.detach(), *torch.autograd.grad(y, leaves, dy)]


def plain(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


errors = {}
for mean in (0, 1000):
    x, dy = torch.randn(2, 4096, 4096, device="cuda")
    given = [x + mean, *torch.randn(2, 4096, device="cuda")]
    exact = results(plain, [t.double() for t in given], dy.double())
    for name, function in (("ours", layer_norm), ("PyTorch's", plain)):
        found = zip(results(function, given, dy), exact, strict=True)
        errors[name, mean] = [((y - e).norm() / e.norm()).item() for y, e in found]
        line = "  ".join(f"{error:.1e}" for error in errors[name, mean])
        print(f"mean {mean:4}, {name:9}  y, dx, dweight, dbias: {line}")
# --8<-- [end:accuracy]
NAMES = {"ours": "ours", "PyTorch's": "eager"}
WHAT = ("y", "dx", "dweight", "dbias")
kept = {}
for (name, mean), found in errors.items():
    kept |= {f"{NAMES[name]}_{mean}_{what}": error for what, error in zip(WHAT, found, strict=True)}
keep(figures=kept)
