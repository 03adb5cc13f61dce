"""Does softmax(x @ w + b) become one kernel? Count what is launched: eagerly, compiled, and compiled with a search."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.inductor.captured import calls_of, captured, launched


# --8<-- [start:count]
def head(x, weight, bias):
    return torch.softmax(x @ weight + bias, dim=-1)


kept = {}
for columns in (1024, 32000):
    x, weight = torch.randn(4096, 1024, device="cuda").bfloat16(), torch.randn(1024, columns, device="cuda").bfloat16() / 32
    bias = torch.randn(columns, device="cuda").bfloat16()
    exact = head(x.double(), weight.double(), bias.double())
    for name in ("eager", "default", "max-autotune-no-cudagraphs"):
        call, calls = lambda x=x, w=weight, b=bias: head(x, w, b), []
        if name != "eager":
            compiled, result, program = captured(head, x, weight, bias, mode=name)
            assert torch.allclose(result.double(), exact, rtol=5e-2, atol=1e-5)
            call, calls = lambda c=compiled, x=x, w=weight, b=bias: c(x, w, b), calls_of(program)
        names = launched(call)
        print(f"{columns:6} columns, {name}: {len(names)} kernels")
        print(*(f"    {name[:100]}" for name in names), sep="\n")
        kept.setdefault(str(columns), {})[name] = {"kernels": len(names), "calls": calls}
# --8<-- [end:count]
keep(figures=kept)
