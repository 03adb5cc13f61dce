"""Operations that work lane by lane."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:elements]
import torch
import triton
import triton.language as tl


@triton.jit
def elements_kernel(x_ptr, out_ptr):
    i = tl.arange(0, 4)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.abs(x))
    tl.store(out_ptr + 4 + i, tl.maximum(x, 0.5))
    tl.store(out_ptr + 8 + i, tl.minimum(x, 0.5))
    tl.store(out_ptr + 12 + i, tl.clamp(x, 0.0, 1.0))
    tl.store(out_ptr + 16 + i, tl.where(x > 0, 1.0, -1.0))
    tl.store(out_ptr + 20 + i, tl.floor(x))
    tl.store(out_ptr + 24 + i, tl.ceil(x))
    tl.store(out_ptr + 28 + i, tl.fma(x, 2.0, 1.0))  # x * 2 + 1, rounded once


@triton.jit
def functions_kernel(x_ptr, out_ptr):
    i = tl.arange(0, 4)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.exp(x))
    tl.store(out_ptr + 4 + i, tl.exp2(x))
    tl.store(out_ptr + 8 + i, tl.log(x))
    tl.store(out_ptr + 12 + i, tl.log2(x))
    tl.store(out_ptr + 16 + i, tl.sqrt(x))
    tl.store(out_ptr + 20 + i, tl.rsqrt(x))
    tl.store(out_ptr + 24 + i, tl.sin(x))
    tl.store(out_ptr + 28 + i, tl.cos(x))
    tl.store(out_ptr + 32 + i, tl.erf(x))
    tl.store(out_ptr + 36 + i, tl.sigmoid(x))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([-1.5, -0.25, 0.75, 2.0], device=device)
out = torch.empty((8, 4), device=device)
elements_kernel[(1,)](x, out)
for name, row in zip(("abs", "maximum", "minimum", "clamp", "where", "floor", "ceil", "fma"), out.tolist(), strict=True):
    print(f"{name:8}", row)
    #> abs      [1.5, 0.25, 0.75, 2.0]
    #> maximum  [0.5, 0.5, 0.75, 2.0]
    #> minimum  [-1.5, -0.25, 0.5, 0.5]
    #> clamp    [0.0, 0.0, 0.75, 1.0]
    #> where    [-1.0, -1.0, 1.0, 1.0]
    #> floor    [-2.0, -1.0, 0.0, 2.0]
    #> ceil     [-1.0, -0.0, 1.0, 2.0]
    #> fma      [-2.0, 0.5, 2.5, 5.0]
x = torch.tensor([0.25, 0.5, 1.0, 4.0], device=device)
out = torch.empty((10, 4), device=device)
functions_kernel[(1,)](x, out)
names = ["exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf", "sigmoid"]
for name, row in zip(names, out, strict=True):
    expected = getattr(torch.special if name == "erf" else torch, name)(x)
    print(f"{name:8}", "as in PyTorch:", torch.allclose(row, expected, rtol=1e-5, atol=1e-6))
    #> exp      as in PyTorch: True
    #> exp2     as in PyTorch: True
    #> log      as in PyTorch: True
    #> log2     as in PyTorch: True
    #> sqrt     as in PyTorch: True
    #> rsqrt    as in PyTorch: True
    #> sin      as in PyTorch: True
    #> cos      as in PyTorch: True
    #> erf      as in PyTorch: True
    #> sigmoid  as in PyTorch: True
# --8<-- [end:elements]
