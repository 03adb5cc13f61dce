"""A template for an element-wise operation: load, compute, store."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def square_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    out = x * x  # your function
    tl.store(out_ptr + offsets, out, mask=mask)


def square(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    square_kernel[grid](x, out, x.numel(), BLOCK=1024)
    return out
# --8<-- [end:kernel]


# --8<-- [start:use]
device = "cuda" if torch.cuda.is_available() else "cpu"
for shape in ((1000,), (7, 11, 13), (0,), ()):
    x = torch.randn(shape, device=device)
    torch.testing.assert_close(square(x), x * x)
print("square agrees with PyTorch")
#> square agrees with PyTorch
# --8<-- [end:use]
