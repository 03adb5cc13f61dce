"""Backward of layer norm, fourth step in small: programs that take many rows each, with one partial sum a program."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:kernel]
import torch
import triton
import triton.language as tl


@triton.jit
def staying_step_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr, dbias_ptr,
    n_rows, n_columns, BLOCK: tl.constexpr,
):
    # This program owns every num_programs-th row of dx, and one row of the partial sums.
    program = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)  # [BLOCK]
    mask = columns < n_columns  # [BLOCK]
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    dweight = tl.zeros([BLOCK], tl.float32)
    dbias = tl.zeros([BLOCK], tl.float32)
    for row in range(program, n_rows, tl.num_programs(0)):
        offsets = row * n_columns + columns  # [BLOCK]
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        normal = (x - tl.load(mean_ptr + row)) * rstd  # [BLOCK]
        g = dy * weight  # [BLOCK]
        dot = tl.sum(g * normal, axis=0) / n_columns
        dx = (g - tl.sum(g, axis=0) / n_columns - normal * dot) * rstd
        tl.store(dx_ptr + offsets, dx, mask=mask)
        dweight += dy * normal
        dbias += dy
    partials = program * n_columns + columns  # [BLOCK]
    tl.store(dweight_ptr + partials, dweight, mask=mask)
    tl.store(dbias_ptr + partials, dbias, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
x, dy = torch.randn(2, 20, 300, device=device)
weight = torch.randn(300, device=device)
mean, rstd = x.mean(1), torch.rsqrt(x.var(1, correction=0) + 1e-5)
dx = torch.empty_like(x)
partials = torch.empty(2, 6, 300, device=device)  # six programs, six partial sums of each
staying_step_kernel[(6,)](x, weight, dy, mean, rstd, dx, *partials, 20, 300, BLOCK=512)
dweight, dbias = partials.sum(1)  # a second, small launch
expected = torch.ops.aten.native_layer_norm_backward(
    dy, x, [300], mean[:, None], rstd[:, None], weight, weight, [True] * 3
)
torch.testing.assert_close([dx, dweight, dbias], list(expected), rtol=1e-4, atol=1e-4)
print("six programs, twenty rows: right")
#> six programs, twenty rows: right
# --8<-- [end:launch]
