"""Backward of layer norm, second step: a few partial sums, each guarded by a lock."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

# --8<-- [start:kernel]
@triton.jit
def lock_step_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr, dx_ptr, dweight_ptr, dbias_ptr, locks_ptr,
    n_columns, n_groups, BLOCK: tl.constexpr,
):
    # This program owns one row of dx, and adds to the partial sums of its group.
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
    group = row % n_groups
    dweight_ptrs = dweight_ptr + group * n_columns + columns  # [BLOCK]
    dbias_ptrs = dbias_ptr + group * n_columns + columns  # [BLOCK]
    while tl.atomic_cas(locks_ptr + group, 0, 1) == 1:  # wait until it was 0, and make it 1
        pass
    tl.store(dweight_ptrs, tl.load(dweight_ptrs, mask=mask) + dy * normal, mask=mask)
    tl.store(dbias_ptrs, tl.load(dbias_ptrs, mask=mask) + dy, mask=mask)
    tl.debug_barrier()  # every thread has stored
    tl.atomic_xchg(locks_ptr + group, 0)
# --8<-- [end:kernel]


device = "cuda" if torch.cuda.is_available() else "cpu"
x, dy = torch.randn(2, 20, 300, device=device)
weight = torch.randn(300, device=device)
mean, rstd = x.mean(1), torch.rsqrt(x.var(1, correction=0) + 1e-5)
dx = torch.empty_like(x)
partials = torch.zeros(2, 8, 300, device=device)  # eight of dweight, eight of dbias
locks = torch.zeros(8, dtype=torch.int32, device=device)
arguments = (x, weight, dy, mean, rstd, dx, *partials, locks, 300, 8)
lock_step_kernel[(20,)](*arguments, BLOCK=512)
dweight, dbias = partials.sum(1)  # a second, small kernel
expected = torch.ops.aten.native_layer_norm_backward(
    dy, x, [300], mean[:, None], rstd[:, None], weight, weight, [True] * 3
)
torch.testing.assert_close([dx, dweight, dbias], list(expected), rtol=1e-4, atol=1e-4)
print("locks: right")
#> locks: right
