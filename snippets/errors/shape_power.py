"""A block of zeros whose sides are not all powers of two."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def mean_kernel(x_ptr, y_ptr, n_tokens, HEADS: tl.constexpr, D: tl.constexpr):
    total = tl.zeros((HEADS, D), tl.float32)  # the mistake
    offsets = tl.arange(0, HEADS)[:, None] * D + tl.arange(0, D)[None, :]
    for token in range(n_tokens):
        total += tl.load(x_ptr + token * HEADS * D + offsets)
    tl.store(y_ptr + offsets, total / n_tokens)


x = torch.rand(10, 8, 80, device=device)
y = torch.empty(8, 80, device=device)
said = error_of(lambda: mean_kernel[(1,)](x, y, 10, HEADS=8, D=80))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def mean_kernel(x_ptr, y_ptr, n_tokens, HEADS: tl.constexpr, D: tl.constexpr, BLOCK_D: tl.constexpr):
    total = tl.zeros((HEADS, BLOCK_D), tl.float32)
    columns = tl.arange(0, BLOCK_D)[None, :]
    offsets = tl.arange(0, HEADS)[:, None] * D + columns
    for token in range(n_tokens):
        total += tl.load(x_ptr + token * HEADS * D + offsets, mask=columns < D, other=0.0)
    tl.store(y_ptr + offsets, total / n_tokens, mask=columns < D)


mean_kernel[(1,)](x, y, 10, HEADS=8, D=80, BLOCK_D=triton.next_power_of_2(80))
print(torch.allclose(y, x.mean(dim=0)))
#> True
# --8<-- [end:right]
