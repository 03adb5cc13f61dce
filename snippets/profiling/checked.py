"""The lesson's kernel and its exercise's, each with both shapes of its block, beside PyTorch."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from snippets.profiling.columns import add_columns
from snippets.profiling.exercise import times_vector

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(2048, 32, device=device)
for rows, columns in ((1024, 1), (64, 32)):
    torch.testing.assert_close(add_columns(x, rows, columns), x.sum(0), rtol=1e-4, atol=1e-3)
    print(f"sums of columns, a block of {rows} by {columns}: as PyTorch's")
a, x = torch.randn(256, 512, device=device), torch.randn(512, device=device)
for rows, columns in ((64, 64), (8, 512)):
    torch.testing.assert_close(times_vector(a, x, rows, columns), a @ x, rtol=1e-3, atol=1e-3)
    print(f"matrix times vector, a block of {rows} by {columns}: as PyTorch's")
