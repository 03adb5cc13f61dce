"""RMSNorm folded into the linear layer after it, in one kernel: the squares are summed while the product is."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:solution]
@triton.jit
def rms_linear_kernel(x_ptr, w_ptr, y_ptr, M, N, K, eps, SIDE: tl.constexpr, STEP: tl.constexpr):
    # This program owns one tile of y, and needs all of its rows of x: their squares come for nothing.
    pid_n, pid_m = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    rows, columns = pid_m * SIDE + tl.arange(0, SIDE), pid_n * SIDE + tl.arange(0, SIDE)  # [SIDE]
    inner = tl.arange(0, STEP)  # [STEP]
    total, squares = tl.zeros((SIDE, SIDE), tl.float32), tl.zeros((SIDE,), tl.float32)
    for start in range(0, K, STEP):
        x_mask = (rows < M)[:, None] & (inner < K - start)[None, :]
        w_mask = (inner < K - start)[:, None] & (columns < N)[None, :]
        x = tl.load(x_ptr + rows[:, None] * K + start + inner[None, :], mask=x_mask, other=0.0)
        w = tl.load(w_ptr + columns[None, :] * K + start + inner[:, None], mask=w_mask, other=0.0)
        total = tl.dot(x, w, total, input_precision="ieee")
        squares += tl.sum(x.to(tl.float32) * x.to(tl.float32), axis=1)
    y = total * tl.rsqrt(squares / K + eps)[:, None]
    y_ptrs = y_ptr + rows[:, None] * N + columns[None, :]
    tl.store(y_ptrs, y, mask=(rows < M)[:, None] & (columns < N)[None, :])


def rms_linear(x, rms_weight, weight, eps=1e-5):
    (M, K), N = x.shape, weight.shape[0]
    folded, y = weight * rms_weight, torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(N, 32), triton.cdiv(M, 32))
    rms_linear_kernel[grid](x, folded, y, M, N, K, eps, SIDE=32, STEP=32)
    return y


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
for ratio in (0, 100):
    x, weight = torch.randn(70, 100, device=device) + ratio, torch.randn(50, 100, device=device)
    rms_weight = torch.rand(100, device=device) + 0.5
    normal = x.double() / (x.double().square().mean(1, keepdim=True) + 1e-5).sqrt()
    expected = (normal * rms_weight.double()) @ weight.double().T
    error = (rms_linear(x, rms_weight, weight).double() - expected).norm() / expected.norm()
    print(ratio, "six digits kept:", error.item() < 1e-6)
    #> 0 six digits kept: True
    #> 100 six digits kept: True
# --8<-- [end:solution]
