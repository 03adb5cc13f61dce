"""The kernel of six steps, stopped half-way again and again: three questions find the line."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from snippets.debugging.first_wrong import first_wrong
from snippets.debugging.stopped import shares, shares_reference

# --8<-- [start:silent]
device = "cuda" if torch.cuda.is_available() else "cpu"
x, weight = torch.randn(4, 1000, device=device), 1 + torch.rand(1000, device=device)
y, expected = shares(x, weight), shares_reference(x, weight)
print("rows that sum to one:", sum(abs(total - 1) < 1e-5 for total in y.sum(1).tolist()))
#> rows that sum to one: 4
print("elements that are right:", torch.isclose(y, expected["share"], rtol=1e-4).sum().item() > 100)
#> elements that are right: False
# --8<-- [end:silent]


# --8<-- [start:halves]
def is_right(step):
    return torch.allclose(shares(x, weight, step), expected[step], rtol=1e-4, atol=1e-5)


step, asked = first_wrong([*expected], is_right)
print(asked)
#> scaled right, power wrong, shifted right
print("look at:", step)
#> look at: power
# --8<-- [end:halves]
