"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def sum_of_tile(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    total = tl.sum(tl.load(x_ptr + rows * N + columns), axis=0)
    tl.store(out_ptr + tl.arange(0, N), total)


@triton.jit
def largest_from_zeros(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    largest = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_columns, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + columns, mask=columns < n_columns, other=-float("inf"))
        largest = tl.maximum(largest, x)
    tl.store(out_ptr, tl.max(largest, axis=0))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.arange(32.0, device=device).view(4, 8)
out = torch.full((8,), float("nan"), device=device)
sum_of_tile[(1,)](x, out, M=4, N=8)
print(f"axis: {'columns' if torch.equal(out, x.sum(0)) else 'rows'}")

x = -1 - torch.arange(9.0, device=device)
largest_from_zeros[(1,)](x, out, 9, BLOCK=4)
print(f"largest: {out[0].item()}")

total = torch.zeros((), dtype=torch.bfloat16, device=device)
for _ in range(1000):
    total += 1
print(f"running: {total.item()}")
