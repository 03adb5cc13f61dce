"""One block for a whole tensor of more than 2^20 elements."""
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
def double_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)  # the mistake
    mask = offsets < n_elements
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


n = 1_500_000
x = torch.rand(n, device=device)
y = torch.empty_like(x)
said = error_of(lambda: double_kernel[(1,)](x, y, n, BLOCK=triton.next_power_of_2(n)))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_tile]
@triton.jit
def ones_kernel(y_ptr, M: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]  # the mistake
    tl.store(y_ptr + offsets, 1.0)


ones = torch.empty(2048, 1024, device=device)
said = error_of(lambda: ones_kernel[(1,)](ones, M=2048, N=1024))
# --8<-- [end:wrong_tile]
print(said)


# --8<-- [start:right]
@triton.jit
def double_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


double_kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
print(torch.equal(y, 2 * x))
#> True
# --8<-- [end:right]
