"""libdevice at its old place, and at its new one under the interpreter."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.tools.errors import error_of, error_of_program

device = "cuda" if torch.cuda.is_available() else "cpu"


# --8<-- [start:wrong]
@triton.jit
def erf_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.libdevice.erf(x), mask=mask)  # the mistake


x = torch.randn(100, device=device)
y = torch.empty_like(x)
said = error_of(lambda: erf_kernel[(1,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong]
print(said)

# --8<-- [start:wrong_interpreter]
from triton.language.extra import libdevice


@triton.jit
def erf_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, libdevice.erf(x), mask=mask)  # right on a GPU


said = error_of(lambda: erf_kernel[(1,)](x, y, 100, BLOCK=128))
# --8<-- [end:wrong_interpreter]
print(said)


# --8<-- [start:right]
@triton.jit
def erf_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.erf(x), mask=mask)


erf_kernel[(1,)](x, y, 100, BLOCK=128)
print(torch.allclose(y, torch.erf(x), atol=1e-6))
#> True
# --8<-- [end:right]
