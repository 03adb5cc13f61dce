"""A loop over a number that only the launch knows, under the interpreter of Triton 3.6."""
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
import warnings


@triton.jit
def sum_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n_elements, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
    tl.store(y_ptr, tl.sum(total))


x = torch.rand(100, device=device)
y = torch.empty(1, device=device)


def launch():
    warnings.simplefilter("error", DeprecationWarning)  # NumPy 2.3 warns of what 2.4 refuses
    sum_kernel[(1,)](x, y, 100, BLOCK=32)


said = error_of(launch)
# --8<-- [end:wrong]
print(said)

# --8<-- [start:right]
sum_kernel[(1,)](x, y, 100, BLOCK=32)
print(torch.allclose(y, x.sum()))
#> True
# --8<-- [end:right]
