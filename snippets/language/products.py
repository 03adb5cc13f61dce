"""Multiply two tiles."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:products]
import torch
import triton
import triton.language as tl


@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr):
    i = tl.arange(0, 16)
    tile = 16 * i[:, None] + i[None, :]  # [16, 16]
    a, b = tl.load(a_ptr + tile), tl.load(b_ptr + tile)
    sums = tl.full((16, 16), 1.0, tl.float32)
    sums = tl.dot(a, b, acc=sums)  # adds the product to what is there; float16 in, float32 out
    tl.store(out_ptr + tile, sums)


device = "cuda" if torch.cuda.is_available() else "cpu"
a, b = torch.randn((2, 16, 16), device=device).half()
out = torch.empty((16, 16), device=device)
dot_kernel[(1,)](a, b, out)
print("as in PyTorch:", torch.allclose(out, a.float() @ b.float() + 1, atol=1e-3))
#> as in PyTorch: True
# --8<-- [end:products]
