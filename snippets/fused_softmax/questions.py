"""What the questions of the lesson ask, run: each line is the answer to one."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


@triton.jit
def softmax_minus(x_ptr, out_ptr, n_columns, shift, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + columns, mask=mask, other=-float("inf"))
    y = tl.exp(x - shift)
    tl.store(out_ptr + columns, y / tl.sum(y, axis=0), mask=mask)


@triton.jit
def masked_terms(x_ptr, out_ptr, n_columns, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + columns, mask=columns < n_columns, other=-float("inf"))
    y = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr, tl.sum(tl.where(columns < n_columns, 0.0, y), axis=0))


def softmax(x, shift):
    out = torch.empty_like(x)
    softmax_minus[(1,)](x, out, x.numel(), shift, BLOCK=16)
    return out


device = "cuda" if torch.cuda.is_available() else "cpu"
x = 3 * torch.randn(13, device=device)
close = torch.allclose(softmax(x, 7.0), x.softmax(0), atol=1e-6)
print(f"seven: {'same' if close else 'other'}")

out = torch.empty(1, device=device)
masked_terms[(1,)](x, out, 13, BLOCK=16)
print(f"masked: {out.item()}")

rows, columns = 1000, 781
block = triton.next_power_of_2(columns)
print(f"traffic: {2 * 4 * columns * rows / (2 * 4 * block * rows):.2f}")
