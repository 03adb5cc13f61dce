"""What goes wrong when a kernel stands in for PyTorch operations: gradients stop there, without an error."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton

# --8<-- [start:no_gradient]
from kernels.add import add_kernel

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(1000, device=device, requires_grad=True)
residual = torch.randn(1000, device=device)

print("PyTorch:", (x + residual).requires_grad)
#> PyTorch: True

out = torch.empty_like(residual)
add_kernel[(triton.cdiv(1000, 256),)](x, residual, out, 1000, BLOCK=256)
print("the kernel:", out.requires_grad)
#> the kernel: False
# --8<-- [end:no_gradient]
assert torch.equal(out, x + residual) and not out.requires_grad
