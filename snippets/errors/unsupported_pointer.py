"""Numbers where a kernel wants pointers: arguments in another order, and the address of a tensor."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

from kernels.tools.errors import error_of

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:wrong]
@triton.jit
def scale_kernel(x_ptr, y_ptr, factor, n_elements, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, factor * x, mask=mask)


x = torch.rand(100, device=device)
y = torch.empty_like(x)
said = error_of(lambda: scale_kernel[(1,)](3.0, x, y, 100, BLOCK=128))  # the mistake
# --8<-- [end:wrong]
print(said)


# --8<-- [start:wrong_address]
x_address, y_address = x.data_ptr(), y.data_ptr()  # the mistake
said = error_of(lambda: scale_kernel[(1,)](x_address, y_address, 3.0, 100, BLOCK=128))
# --8<-- [end:wrong_address]
print(said)


# --8<-- [start:right]
scale_kernel[(1,)](x, y, 3.0, 100, BLOCK=128)
print(torch.equal(y, 3.0 * x))
#> True
# --8<-- [end:right]
