"""The exercise's solution: a x + y in one kernel."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:axpy]
@triton.jit
def axpy_kernel(a, x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, a * x + y, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.rand(5000, device=device)
y = torch.rand(5000, device=device)
out = torch.full_like(x, float("nan"))
axpy_kernel[(triton.cdiv(5000, 1024),)](3.0, x, y, out, 5000, BLOCK=1024)
torch.testing.assert_close(out, 3.0 * x + y)
print("axpy agrees with PyTorch")
#> axpy agrees with PyTorch
# --8<-- [end:axpy]
