"""What goes wrong when the grid is rounded down: the tail is never computed."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from snippets.first_kernel.launch import vector_add_kernel

# --8<-- [start:short_grid]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(1000, device=device)
y = torch.rand(1000, device=device)
out = torch.full_like(x, float("nan"))

grid = (1000 // 256,)  # the mistake: this rounds down, to 3 programs
vector_add_kernel[grid](x, y, out, 1000, BLOCK=256)
print("elements never written:", int(out.isnan().sum()))
#> elements never written: 232
# --8<-- [end:short_grid]
assert out.isnan().sum() == 232, "the mistake this program shows did not happen"
