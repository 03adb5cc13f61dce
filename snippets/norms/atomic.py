"""Backward of layer norm, first step: one row a program, dweight and dbias by atomic additions."""
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

# --8<-- [start:kernel]
@triton.jit
def atomic_step_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr,
    dx_ptr, dweight_ptr, dbias_ptr, n_columns, BLOCK: tl.constexpr,
):
    # This program owns one row of dx, and adds to every element of dweight and dbias.
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    x = tl.load(x_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * n_columns + columns, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    normal = (x - tl.load(mean_ptr + row)) * rstd  # [BLOCK]
    g = dy * weight  # [BLOCK]
    dot = tl.sum(g * normal, axis=0) / n_columns
    dx = (g - tl.sum(g, axis=0) / n_columns - normal * dot) * rstd
    tl.store(dx_ptr + row * n_columns + columns, dx, mask=mask)
    tl.atomic_add(dweight_ptr + columns, dy * normal, mask=mask)
    tl.atomic_add(dbias_ptr + columns, dy, mask=mask)
# --8<-- [end:kernel]


device = "cuda" if torch.cuda.is_available() else "cpu"
x, dy = torch.randn(2, 20, 300, device=device)
weight = torch.randn(300, device=device)
mean, rstd = x.mean(1), torch.rsqrt(x.var(1, correction=0) + 1e-5)
dx = torch.empty_like(x)
dweight, dbias = torch.zeros(2, 300, device=device)  # programs add to these
atomic_step_kernel[(20,)](x, weight, dy, mean, rstd, dx, dweight, dbias, 300, BLOCK=512)
expected = torch.ops.aten.native_layer_norm_backward(
    dy, x, [300], mean[:, None], rstd[:, None], weight, weight, [True] * 3
)
torch.testing.assert_close([dx, dweight, dbias], list(expected), rtol=1e-4, atol=1e-4)
print("atomic additions: right")
#> atomic additions: right
