"""Layer norm, one row a program, beside PyTorch's."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:kernel]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def row_norm_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, n_columns, eps, BLOCK: tl.constexpr):
    # This program owns one row.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_columns
    centered = tl.where(mask, x - mean, 0.0)  # [BLOCK]
    variance = tl.sum(centered * centered, axis=0) / n_columns
    normal = centered * tl.rsqrt(variance + eps)  # [BLOCK]
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * n_columns + columns, normal * weight + bias, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(20, 300, device=device) + 3
weight, bias = torch.randn(2, 300, device=device)
y = torch.empty_like(x)
row_norm_kernel[(20,)](x, weight, bias, y, 300, 1e-5, BLOCK=512)
torch.testing.assert_close(y, F.layer_norm(x, (300,), weight, bias))
print("same as PyTorch, up to rounding")
#> same as PyTorch, up to rounding
# --8<-- [end:launch]
