"""A float32 number that is stored as float8, under the interpreter."""
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
def shrink_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x.to(tl.float8e5), mask=offsets < n)  # the mistake, under the interpreter


x = torch.tensor([1.0, 1.98, 3.0, 7.9], device=device)
y = torch.empty(4, dtype=torch.float8_e5m2, device=device)
said = error_of(lambda: shrink_kernel[(1,)](x, y, 4, BLOCK=4))
print(y.float().tolist(), "and by PyTorch", x.to(y.dtype).float().tolist())
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def scale_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x.to(y_ptr.dtype.element_ty), mask=offsets < n)


y = torch.empty(4, dtype=torch.float32 if device == "cpu" else torch.float8_e5m2, device=device)
scale_kernel[(1,)](x, y, 4, BLOCK=4)
print(torch.equal(y.to(torch.float8_e5m2).float(), x.to(torch.float8_e5m2).float()))
#> True
# --8<-- [end:right]
