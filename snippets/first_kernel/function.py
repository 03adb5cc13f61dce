"""Wrap a kernel in a function: what a bare launch takes on trust, and the lines that make it safe to call."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton

from snippets.first_kernel.launch import vector_add_kernel

# --8<-- [start:bare]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=device)
y = torch.tensor([[10.0, 40.0], [20.0, 50.0], [30.0, 60.0]], device=device).T

out = torch.empty_like(x)
vector_add_kernel[(1,)](x, y, out, 6, BLOCK=8)
print("PyTorch:   ", (x + y).tolist())
#> PyTorch:    [[11.0, 22.0, 33.0], [44.0, 55.0, 66.0]]
print("the kernel:", out.tolist())
#> the kernel: [[11.0, 42.0, 23.0], [54.0, 35.0, 66.0]]
# --8<-- [end:bare]
assert not torch.equal(out, x + y), "the mistake this program shows did not happen"


# --8<-- [start:function]
def vector_add(x, y):
    if x.device != y.device:
        raise ValueError(f"y: expected {x.device}, got {y.device}")
    x, y = torch.broadcast_tensors(x, y)
    x, y = x.contiguous(), y.contiguous()
    out = torch.empty_like(x, dtype=torch.result_type(x, y))
    grid = (triton.cdiv(out.numel(), 1024),)
    vector_add_kernel[grid](x, y, out, out.numel(), BLOCK=1024)
    return out
# --8<-- [end:function]


# --8<-- [start:check]
print("a transposed input:", torch.equal(vector_add(x, y), x + y))
#> a transposed input: True
row = torch.rand(1, 300, device=device)
column = torch.rand(200, 1, device=device, dtype=torch.float16)
print("broadcast:", torch.equal(vector_add(row, column), row + column))
#> broadcast: True
print("empty:", tuple(vector_add(x[:0], y[:0]).shape))
#> empty: (0, 3)
# --8<-- [end:check]
