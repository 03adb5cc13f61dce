"""Tiles of a product that need more shared memory than a program may have."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:wrong]
@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, K: tl.constexpr, SIDE: tl.constexpr, BLOCK_K: tl.constexpr):
    side, k = tl.arange(0, SIDE), tl.arange(0, BLOCK_K)
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + side[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * SIDE + side[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + side[:, None] * SIDE + side[None, :], total)


a = torch.rand(128, 512, device=device).half()
b = torch.rand(512, 128, device=device).half()
c = torch.empty(128, 128, device=device)
said = error_of(lambda: product_kernel[(1,)](a, b, c, K=512, SIDE=128, BLOCK_K=128, num_stages=4))  # the mistake
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
product_kernel[(1,)](a, b, c, K=512, SIDE=128, BLOCK_K=32, num_stages=4)
print(torch.allclose(c, a.float() @ b.float(), rtol=1e-3))
#> True
# --8<-- [end:right]
