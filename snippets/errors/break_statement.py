"""A loop that is left with break, and one that skips a round with continue."""
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
def first_kernel(x_ptr, y_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    first = N
    for start in range(0, N, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < N, other=0.0)
        first = tl.min(tl.where(x > 0.9, offsets, N))
        if first < N:
            break  # the mistake
    tl.store(y_ptr, first)


x = torch.linspace(0, 1, 1000, device=device)
y = torch.zeros(1, dtype=torch.int32, device=device)
said = error_of(lambda: first_kernel[(1,)](x, y, N=1000, BLOCK=128))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_continue]
@triton.jit
def sum_kernel(x_ptr, y_ptr, skipped, N: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        if start == skipped:
            continue  # the mistake
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < N, other=0.0)
    tl.store(y_ptr, tl.sum(total))


total = torch.zeros(1, device=device)
said = error_of(lambda: sum_kernel[(1,)](x, total, 256, N=1000, BLOCK=128))
# --8<-- [end:wrong_continue]
print(said)


# --8<-- [start:right]
@triton.jit
def first_kernel(x_ptr, y_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    first = N
    start = 0
    while (start < N) & (first == N):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < N, other=0.0)
        first = tl.min(tl.where(x > 0.9, offsets, N))
        start += BLOCK
    tl.store(y_ptr, first)


first_kernel[(1,)](x, y, N=1000, BLOCK=128)
print(y.item() == (x > 0.9).nonzero()[0].item())
#> True
# --8<-- [end:right]


# --8<-- [start:right_continue]
@triton.jit
def sum_kernel(x_ptr, y_ptr, skipped, N: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        if start != skipped:
            offsets = start + tl.arange(0, BLOCK)
            total += tl.load(x_ptr + offsets, mask=offsets < N, other=0.0)
    tl.store(y_ptr, tl.sum(total))


sum_kernel[(1,)](x, total, 256, N=1000, BLOCK=128)
print(torch.allclose(total, x.sum() - x[256:384].sum()))
#> True
# --8<-- [end:right_continue]
