"""How many kernels seven pieces of PyTorch launch: eagerly, compiled, and compiled with a search."""
# needs: cuda
import sys

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.inductor.captured import captured, kernels_of, launched

rows, columns = 8192, 4096
x, y = torch.randn(2, rows, columns, device="cuda").bfloat16().unbind()
weight, bias = torch.randn(columns, columns, device="cuda").bfloat16() / 64, torch.randn(columns, device="cuda").bfloat16()


def eight(x):
    for _ in range(4):
        x = torch.tanh(x) * 1.5
    return x


# --8<-- [start:pieces]
PIECES = {
    "eight operations, element by element": (eight, (x,)),
    "SwiGLU": (lambda x, y: F.silu(x) * y, (x, y)),
    "softmax": (lambda x: torch.softmax(x, -1), (x,)),
    "layer norm, then GELU": (lambda x, b: F.gelu(F.layer_norm(x, (columns,), b, b)), (x, bias)),
    "sum of everything": (lambda x: x.float().square().sum(), (x,)),
    "linear layer, then GELU": (lambda x, w, b: F.gelu(F.linear(x, w, b), approximate="tanh"), (x, weight, bias)),
    "softmax, then linear layer": (lambda x, w, b: F.linear(torch.softmax(x, -1), w, b), (x, weight, bias)),
}
# --8<-- [end:pieces]
kept = {}
print("kernels                                eager  compiled  searched   written as")
for title, (function, arguments) in PIECES.items():
    counts = {"eager": len(launched(lambda f=function, a=arguments: f(*a)))}
    for name, mode in (("compiled", "default"), ("searched", "max-autotune-no-cudagraphs")):
        compiled, result, program = captured(function, *arguments, mode=mode)
        expected = function(*arguments).double()
        assert ((result.double() - expected).norm() / expected.norm()).item() < 1.6e-2, (title, name)
        counts[name] = len(launched(lambda c=compiled, a=arguments: c(*a)))
        if name == "compiled":
            counts["made"] = [made for made, _ in kernels_of(program)]
    kept[title] = counts
    print(f"{title:38} {counts['eager']:5} {counts['compiled']:9} {counts['searched']:9}   {', '.join(counts['made'])}")
keep(figures={"pieces": kept})
