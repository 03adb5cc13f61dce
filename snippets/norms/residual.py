"""RMS norm of a sum: what a language model does before every layer."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

# --8<-- [start:residual]
@triton.jit
def residual_norm_kernel(
    x_ptr, residual_ptr, weight_ptr, h_ptr, y_ptr, n_columns, eps, BLOCK: tl.constexpr
):
    # This program owns one row.
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    offsets = tl.program_id(0).to(tl.int64) * n_columns + columns  # [BLOCK]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    h = x + tl.load(residual_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(h_ptr + offsets, h, mask=mask)
    rstd = tl.rsqrt(tl.sum(h * h, axis=0) / n_columns + eps)
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + offsets, h * rstd * weight, mask=mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x, residual = torch.randn(2, 20, 300, device=device)
weight = torch.randn(300, device=device)
h, y = torch.empty_like(x), torch.empty_like(x)
residual_norm_kernel[(20,)](x, residual, weight, h, y, 300, 1e-6, BLOCK=512)
torch.testing.assert_close(h, x + residual)
torch.testing.assert_close(y, torch.nn.functional.rms_norm(h, (300,), weight, 1e-6))
print("the sum and its norm, in one kernel")
#> the sum and its norm, in one kernel
# --8<-- [end:residual]
