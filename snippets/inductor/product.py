"""What torch.compile makes of a linear layer with GELU: in its default mode, and when it may search."""
# needs: cuda
import sys

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.inductor.captured import calls_of, captured, kernels_of, show


# --8<-- [start:product]
def linear_gelu(x, weight, bias):
    return F.gelu(F.linear(x, weight, bias), approximate="tanh")


x, weight = torch.randn(8192, 4096, device="cuda"), torch.randn(14336, 4096, device="cuda") / 64
x, weight, bias = x.bfloat16(), weight.bfloat16(), torch.randn(14336, device="cuda").bfloat16()
exact = linear_gelu(x.double(), weight.double(), bias.double())

compiled, result, program = captured(linear_gelu, x, weight, bias)
assert torch.isclose(result.double(), exact, rtol=2e-2, atol=0.05).all()
show(program)

compiled, result, searched = captured(linear_gelu, x, weight, bias, mode="max-autotune-no-cudagraphs")
assert torch.isclose(result.double(), exact, rtol=2e-2, atol=0.05).all()
print("\nmax-autotune calls:", ", ".join(calls_of(searched)))
# --8<-- [end:product]
template = [text for made, text in kernels_of(searched) if made == "template"]
for text in template:
    lines = text.strip().splitlines()
    print(f"\n# made as template, {len(lines)} lines, of which the last:")
    print("\n".join(lines[-16:]))
calls = {"default": calls_of(program), "searched": calls_of(searched)}
print(f"\nthe search took a product {'of its own, in Triton' if template else 'from a library'}")
keep(figures={"default": calls["default"], "searched": calls["searched"], "own": bool(template)})
