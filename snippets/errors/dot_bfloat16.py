"""A matrix product whose sums are asked for in bfloat16."""
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
def product_kernel(a_ptr, b_ptr, c_ptr, SIDE: tl.constexpr):
    lines = tl.arange(0, SIDE)
    places = lines[:, None] * SIDE + lines[None, :]
    a, b = tl.load(a_ptr + places), tl.load(b_ptr + places)
    c = tl.dot(a, b, out_dtype=c_ptr.dtype.element_ty)  # the mistake
    tl.store(c_ptr + places, c)


a, b = (torch.rand(32, 32, device=device).half() for _ in range(2))
c = torch.empty(32, 32, dtype=torch.bfloat16, device=device)
said = error_of(lambda: product_kernel[(1,)](a, b, c, SIDE=32))
# --8<-- [end:wrong]
print(said)


# --8<-- [start:right]
@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, SIDE: tl.constexpr):
    lines = tl.arange(0, SIDE)
    places = lines[:, None] * SIDE + lines[None, :]
    a, b = tl.load(a_ptr + places), tl.load(b_ptr + places)
    c = tl.dot(a, b).to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + places, c)


product_kernel[(1,)](a, b, c, SIDE=32)
print(torch.allclose(c.float(), a.float() @ b.float(), rtol=1e-2))
#> True
# --8<-- [end:right]
