"""The exercise's solution: the second matrix lies as a linear layer keeps its weight, N by K."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl


# --8<-- [start:weight]
@triton.jit
def weight_product_kernel(
    a_ptr, w_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(1).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        a_mask = (rows < M)[:, None] & (inner < K)[None, :]
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :], mask=a_mask, other=0.0)
        b_mask = (inner < K)[:, None] & (columns < N)[None, :]
        # Element (k, n) of the factor is element (n, k) of the weight.
        b = tl.load(w_ptr + columns[None, :] * K + inner[:, None], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    c_mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=c_mask)


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randint(-4, 5, (150, 100), device=device).half()
weight = torch.randint(-4, 5, (200, 100), device=device).half()
out = torch.empty(150, 200, dtype=torch.float16, device=device)
weight_product_kernel[(4, 3)](x, weight, out, 150, 200, 100, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
expected = (x.float() @ weight.float().T).half()
print("same as PyTorch:", torch.equal(out, expected))
#> same as PyTorch: True
# --8<-- [end:weight]
