"""The sketch that is often shown for a first attention kernel, run and compared with attention in float64."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.tools.benchmark import keep


# --8<-- [start:kernel]
@triton.jit
def sketch_attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, scale,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)  # a block of queries
    keys = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)  # and a block of keys
    columns = tl.arange(0, HEAD)
    q = tl.load(q_ptr + rows[:, None] * HEAD + columns[None, :])
    k = tl.load(k_ptr + keys[:, None] * HEAD + columns[None, :])
    v = tl.load(v_ptr + keys[:, None] * HEAD + columns[None, :])
    scores = tl.dot(q, k.T) * scale  # [BLOCK_M, BLOCK_N]
    weights = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    weights = weights / tl.sum(weights, axis=1)[:, None]
    out = tl.dot(weights.to(v.dtype), v)  # [BLOCK_M, HEAD]
    tl.store(out_ptr + rows[:, None] * HEAD + columns[None, :], out)
# --8<-- [end:kernel]


# --8<-- [start:launch]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
q, k, v = torch.randn(3, 256, 64, device=device).half()
out = torch.empty_like(q)
sketch_attention_kernel[(4, 4)](q, k, v, out, 64**-0.5, HEAD=64, BLOCK_M=64, BLOCK_N=64)

exact = [x.double() for x in (q, k, v)]
expected = F.scaled_dot_product_attention(*exact)
error = ((out - expected).norm() / expected.norm()).item()
print(f"it is right: {error < 0.01}, it is finite: {bool(out.isfinite().all())}")
#> it is right: False, it is finite: True
# --8<-- [end:launch]

# --8<-- [start:diagnose]
blocks = zip(exact[1].split(64), exact[2].split(64), strict=True)
each = torch.stack([F.scaled_dot_product_attention(exact[0], *block) for block in blocks])
off = (out - each).abs().amin(dim=0)  # from the nearest of the four
print(f"every number is that of one block of keys alone: {bool((off < 2e-3).all())}")
#> every number is that of one block of keys alone: True
# --8<-- [end:diagnose]
print(f"relative error {error:.2f}")
keep(figures={"error": round(error, 3)})
