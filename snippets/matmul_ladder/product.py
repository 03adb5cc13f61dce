"""A matrix product in tiles: one program makes a tile of c, and walks along K to do it."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def walking_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # This program owns one tile of c.
    rows = tl.program_id(1).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        inner = (start + tl.arange(0, BLOCK_K)).to(tl.int64)
        a_mask = (rows < M)[:, None] & (inner < K)[None, :]
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :], mask=a_mask, other=0.0)
        b_mask = (inner < K)[:, None] & (columns < N)[None, :]
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)  # [BLOCK_M, BLOCK_K] times [BLOCK_K, BLOCK_N]
    c_mask = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=c_mask)
# --8<-- [end:kernel]


if __name__ == "__main__":
    # --8<-- [start:launch]
    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        (M, K), N = a.shape, b.shape[1]
        c = torch.empty((M, N), dtype=a.dtype, device=a.device)
        grid = (triton.cdiv(N, 64), triton.cdiv(M, 64))  # a program for each tile of c
        sides = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
        walking_matmul_kernel[grid](a, b, c, M, N, K, **sides)
        return c


    device = "cuda" if torch.cuda.is_available() else "cpu"
    a = torch.randint(-4, 5, (150, 100), device=device).half()
    b = torch.randint(-4, 5, (100, 200), device=device).half()
    expected = (a.float() @ b.float()).half()
    print("same as PyTorch:", torch.equal(product(a, b), expected))
    #> same as PyTorch: True
    # --8<-- [end:launch]
