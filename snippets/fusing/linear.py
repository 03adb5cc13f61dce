"""A linear layer with its bias and its activation in one kernel, on the tile that is still in registers."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def linear_silu_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, M, N, K,
    SIDE: tl.constexpr, STEP: tl.constexpr,
):
    # This program owns one tile of y.
    rows = tl.program_id(1).to(tl.int64) * SIDE + tl.arange(0, SIDE)[:, None]  # [SIDE, 1]
    columns = tl.program_id(0).to(tl.int64) * SIDE + tl.arange(0, SIDE)[None, :]  # [1, SIDE]
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for start in range(0, K, STEP):
        inner = start + tl.arange(0, STEP)  # [STEP]
        x_ptrs = x_ptr + rows * K + inner[None, :]  # [SIDE, STEP]
        w_ptrs = w_ptr + columns * K + inner[:, None]  # [STEP, SIDE]
        x = tl.load(x_ptrs, mask=(rows < M) & (inner < K)[None, :], other=0.0)
        w = tl.load(w_ptrs, mask=(columns < N) & (inner < K)[:, None], other=0.0)
        total = tl.dot(x, w, total, input_precision="ieee")
    # The epilogue: the sums are complete, and still on the chip.
    z = total + tl.load(bias_ptr + columns, mask=columns < N, other=0.0)
    y = z * tl.sigmoid(z)
    tl.store(y_ptr + rows * N + columns, y, mask=(rows < M) & (columns < N))
# --8<-- [end:kernel]


# --8<-- [start:use]
def linear_silu(x, weight, bias):
    (M, K), N = x.shape, weight.shape[0]
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(N, 32), triton.cdiv(M, 32))
    linear_silu_kernel[grid](x, weight, bias, y, M, N, K, SIDE=32, STEP=32)
    return y


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x, weight = torch.randn(70, 100, device=device), torch.randn(50, 100, device=device)
bias = torch.randn(50, device=device)
expected = F.silu(F.linear(x, weight, bias))
print(torch.allclose(linear_silu(x, weight, bias), expected, rtol=1e-4, atol=1e-4))
#> True
# --8<-- [end:use]
