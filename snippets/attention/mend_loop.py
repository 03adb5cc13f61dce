"""The sketch, mended once: a program walks over all keys, and adds up what each block of them gives."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from kernels.tools.benchmark import keep


# --8<-- [start:kernel]
@triton.jit
def mended_loop_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, length, scale,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.arange(0, HEAD)
    q = tl.load(q_ptr + rows[:, None] * HEAD + columns[None, :])
    total = tl.zeros((BLOCK_M, HEAD), tl.float32)
    for start in range(0, length, BLOCK_N):  # all keys, block by block
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + keys[:, None] * HEAD + columns[None, :])
        v = tl.load(v_ptr + keys[:, None] * HEAD + columns[None, :])
        scores = tl.dot(q, k.T) * scale
        weights = tl.exp(scores - tl.max(scores, axis=1)[:, None])
        weights = weights / tl.sum(weights, axis=1)[:, None]
        total = tl.dot(weights.to(v.dtype), v, total)
    tl.store(out_ptr + rows[:, None] * HEAD + columns[None, :], total)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
q, k, v = torch.randn(3, 256, 64, device=device).half()
out = torch.empty_like(q)
mended_loop_kernel[(4,)](q, k, v, out, 256, 64**-0.5, HEAD=64, BLOCK_M=64, BLOCK_N=64)

expected = F.scaled_dot_product_attention(*(x.double() for x in (q, k, v)))
error = ((out - expected).norm() / expected.norm()).item()
nearly = ((out / 4 - expected).norm() / expected.norm()).item()
print(f"it is right: {error < 0.01}, divided by the four blocks: {nearly < 0.01}")
#> it is right: False, divided by the four blocks: False
# --8<-- [end:launch]
print(f"relative error {error:.2f}, divided by four {nearly:.2f}")
keep(figures={"error": round(error, 3), "divided": round(nearly, 3)})
