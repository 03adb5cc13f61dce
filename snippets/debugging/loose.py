"""A tolerance that hides a mistake, and one that follows from the arithmetic."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from snippets.debugging.suspect import scale_rows, scale_rows_reference

device = "cuda" if torch.cuda.is_available() else "cpu"
x = 1 + torch.rand(8, 1000, device=device)
weight = 1 + torch.rand(1000, device=device)

# --8<-- [start:loose]
y, expected = scale_rows(x, weight), scale_rows_reference(x, weight)
for rtol in (2e-2, 1e-5):
    print(f"rtol={rtol}: {'equal' if torch.allclose(y, expected, rtol=rtol, atol=1e-5) else 'different'}")
    #> rtol=0.02: equal
    #> rtol=1e-05: different
# --8<-- [end:loose]
