"""The library's softmax over rows of any length, and the route that each takes."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:lengths]
from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_route

device = "cuda" if torch.cuda.is_available() else "cpu"
for n_columns in (1, 100, 5000, 40000):
    x = torch.randn(2, n_columns, device=device)
    torch.testing.assert_close(softmax(x), torch.softmax(x, dim=-1))
    print(f"2 rows of {n_columns:6,}: {softmax_route(n_columns, x.dtype, n_rows=2)}")
    #> 2 rows of      1: short
    #> 2 rows of    100: short
    #> 2 rows of  5,000: odd
    #> 2 rows of 40,000: split
print("many rows of 40,000:", softmax_route(40_000, torch.float32))
#> many rows of 40,000: long
# --8<-- [end:lengths]
