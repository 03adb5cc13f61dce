"""The gate and the value of a gated linear layer in one kernel: two products, one tile of the result."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch.nn.functional as F
import triton
import triton.language as tl


# --8<-- [start:gated]
@triton.jit
def gated_linear_kernel(
    x_ptr, gate_ptr, up_ptr, y_ptr, M, N, K,
    SIDE: tl.constexpr, STEP: tl.constexpr,
):
    # This program owns one tile of y, and of both products.
    rows = tl.program_id(1).to(tl.int64) * SIDE + tl.arange(0, SIDE)[:, None]  # [SIDE, 1]
    columns = tl.program_id(0).to(tl.int64) * SIDE + tl.arange(0, SIDE)[None, :]  # [1, SIDE]
    gates, ups = tl.zeros((SIDE, SIDE), tl.float32), tl.zeros((SIDE, SIDE), tl.float32)
    for start in range(0, K, STEP):
        inner = start + tl.arange(0, STEP)  # [STEP]
        x_mask, w_mask = (rows < M) & (inner < K)[None, :], (columns < N) & (inner < K)[:, None]
        at = columns * K + inner[:, None]  # [STEP, SIDE]
        x = tl.load(x_ptr + rows * K + inner[None, :], mask=x_mask, other=0.0)  # [SIDE, STEP]
        gate = tl.load(gate_ptr + at, mask=w_mask, other=0.0)
        up = tl.load(up_ptr + at, mask=w_mask, other=0.0)
        gates = tl.dot(x, gate, gates, input_precision="ieee")
        ups = tl.dot(x, up, ups, input_precision="ieee")
    y = gates * tl.sigmoid(gates) * ups
    tl.store(y_ptr + rows * N + columns, y, mask=(rows < M) & (columns < N))


def gated_linear(x, gate, up):
    (M, K), N = x.shape, gate.shape[0]
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(N, 32), triton.cdiv(M, 32))
    gated_linear_kernel[grid](x, gate, up, y, M, N, K, SIDE=32, STEP=16)
    return y


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x, gate, up = (torch.randn(n, 100, device=device) for n in (70, 50, 50))
expected = F.silu(F.linear(x, gate)) * F.linear(x, up)
print(torch.allclose(gated_linear(x, gate, up), expected, rtol=1e-4, atol=1e-3))
#> True
# --8<-- [end:gated]
