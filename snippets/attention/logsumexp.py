"""The exercise's solution: attention that also leaves the logarithm of the sum of exponentials, one number a query."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch
import triton
import triton.language as tl


# --8<-- [start:solution]
@triton.jit
def attention_lse_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, length, scale, HEAD: tl.constexpr, BLOCK: tl.constexpr
):
    query, columns = tl.program_id(0).to(tl.int64), tl.arange(0, HEAD)
    q = tl.load(q_ptr + query * HEAD + columns).to(tl.float32)
    m, s = -float("inf"), 0.0
    total = tl.zeros((HEAD,), tl.float32)
    for start in range(0, length, BLOCK):
        keys = start + tl.arange(0, BLOCK)
        mask = keys < length
        places = keys.to(tl.int64)[:, None] * HEAD + columns[None, :]
        k = tl.load(k_ptr + places, mask=mask[:, None], other=0.0)
        v = tl.load(v_ptr + places, mask=mask[:, None], other=0.0)
        scores = tl.where(mask, tl.sum(q[None, :] * k, axis=1) * scale, -float("inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=0))
        weights, rescale = tl.exp(scores - new_m), tl.exp(m - new_m)
        s = s * rescale + tl.sum(weights, axis=0)
        total = total * rescale + tl.sum(weights[:, None] * v, axis=0)
        m = new_m
    tl.store(out_ptr + query * HEAD + columns, total / s)
    tl.store(lse_ptr + query, m + tl.log(s))  # of the exponentials without m subtracted


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
q = torch.randn(5, 64, device=device)
k, v = torch.randn(2, 300, 64, device=device)
out, lse = torch.empty_like(q), torch.empty(5, device=device)
attention_lse_kernel[(5,)](q, k, v, out, lse, 300, 0.125, HEAD=64, BLOCK=32)
scores = q.double() @ k.double().T * 0.125
torch.testing.assert_close(lse.double(), scores.logsumexp(dim=1), rtol=1e-5, atol=1e-5)
torch.testing.assert_close(out.double(), torch.softmax(scores, dim=1) @ v.double(), rtol=1e-5, atol=1e-5)
print("both are right")
#> both are right
# --8<-- [end:solution]
