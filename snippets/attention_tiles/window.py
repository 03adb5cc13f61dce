"""The exercise's solution: a causal window, in which a query sees only the last keys before it."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


# --8<-- [start:solution]
@triton.jit
def window_attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, length, window, scale,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0) * BLOCK_M
    rows, columns = row + tl.arange(0, BLOCK_M), tl.arange(0, HEAD)
    first = tl.program_id(1).to(tl.int64) * length * HEAD
    places = first + rows[:, None] * HEAD + columns[None, :]
    q = tl.load(q_ptr + places, mask=(rows < length)[:, None], other=0.0)
    m = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    s = tl.zeros((BLOCK_M,), tl.float32)
    total = tl.zeros((BLOCK_M, HEAD), tl.float32)
    begin = tl.maximum(row - window + 1, 0) // BLOCK_N * BLOCK_N  # the tile of the first query's first key
    for start in range(begin, tl.minimum(row + BLOCK_M, length), BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k_places, mask = first + keys[:, None] * HEAD + columns[None, :], (keys < length)[:, None]
        k = tl.load(k_ptr + k_places, mask=mask, other=0.0)
        v = tl.load(v_ptr + k_places, mask=mask, other=0.0)
        behind = rows[:, None] - keys[None, :]  # how far back a key lies
        scores = tl.where((behind >= 0) & (behind < window), tl.dot(q, k.T) * scale, -float("inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1))
        shift = tl.where(new_m == -float("inf"), 0.0, new_m)  # the last queries may see nothing yet
        weights, rescale = tl.exp(scores - shift[:, None]), tl.exp(m - shift)
        s = s * rescale + tl.sum(weights, axis=1)
        total = tl.dot(weights.to(v.dtype), v, total * rescale[:, None])
        m = new_m
    s = tl.where(s > 0.0, s, 1.0)  # rows past the end may have seen nothing
    tl.store(out_ptr + places, total / s[:, None], mask=(rows < length)[:, None])


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
q, k, v = torch.randn(3, 2, 200, 64, device=device).half()
out = torch.empty_like(q)
window_attention_kernel[(4, 2)](q, k, v, out, 200, 20, 0.125, HEAD=64, BLOCK_M=64, BLOCK_N=32)
place = torch.arange(200, device=device)
behind = place[:, None] - place[None, :]
exact, seen = [x.double() for x in (q, k, v)], (behind >= 0) & (behind < 20)
expected = F.scaled_dot_product_attention(*exact, attn_mask=seen)
torch.testing.assert_close(out.double(), expected, rtol=1e-2, atol=1e-3)
print("a window of 20 keys is right")
#> a window of 20 keys is right
# --8<-- [end:solution]
