"""Values of a kernel, printed when it is compiled and when it runs."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl

device = "cuda" if torch.cuda.is_available() else "cpu"
# --8<-- [end:imports]


# --8<-- [start:prints]
@triton.jit
def print_half_kernel(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.static_print("static:", x)
    if pid == 1:
        tl.device_print("offsets", offsets)
        tl.device_print("x", x)
    tl.store(y_ptr + offsets, x / 2, mask=mask)
# --8<-- [end:prints]


x = torch.arange(6.0, device=device)
y = torch.empty_like(x)
print_half_kernel[(2,)](x, y, 6, BLOCK=4)
if torch.cuda.is_available():
    torch.cuda.synchronize()  # what a GPU prints arrives when somebody waits for it
