"""Variance from the squares of the elements, and from their distances to the mean, where the mean is large."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

# --8<-- [start:far_mean]
from kernels.norm import layer_norm


@triton.jit
def squares_kernel(x_ptr, y_ptr, n_columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_columns
    variance = tl.sum(x * x, axis=0) / n_columns - mean * mean  # the mistake
    variance = tl.maximum(variance, 0.0)
    y = (x - mean) * tl.rsqrt(variance + eps)
    tl.store(y_ptr + row * n_columns + columns, y, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(8, 1000, device=device) + 5000
y = torch.empty_like(x)
squares_kernel[(8,)](x, y, 1000, 1e-5, BLOCK=1024)
exact = torch.nn.functional.layer_norm(x.double(), (1000,))
print("squares are off by more than 0.1:", not (y - exact).abs().max() < 0.1)
#> squares are off by more than 0.1: True
print("distances are off by less than 0.01:", ((layer_norm(x) - exact).abs().max() < 0.01).item())
#> distances are off by less than 0.01: True
# --8<-- [end:far_mean]
