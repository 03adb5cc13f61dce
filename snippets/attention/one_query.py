"""Attention for one query: a walk over the keys that carries a maximum, a sum, and a weighted sum of values."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch.nn.functional as F
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:kernel]
@triton.jit
def one_query_kernel(q_ptr, k_ptr, v_ptr, out_ptr, length, scale, HEAD: tl.constexpr, BLOCK: tl.constexpr):
    query = tl.program_id(0).to(tl.int64)  # this program owns one query
    columns = tl.arange(0, HEAD)
    q = tl.load(q_ptr + query * HEAD + columns).to(tl.float32)  # [HEAD]
    m = -float("inf")  # the largest score so far
    s = 0.0  # the sum of exponentials so far, taken with m subtracted
    total = tl.zeros((HEAD,), tl.float32)  # the sum of values so far, each times its exponential
    for start in range(0, length, BLOCK):
        keys = start + tl.arange(0, BLOCK)
        mask = keys < length
        places = keys.to(tl.int64)[:, None] * HEAD + columns[None, :]
        k = tl.load(k_ptr + places, mask=mask[:, None], other=0.0)  # [BLOCK, HEAD]
        scores = tl.sum(q[None, :] * k, axis=1) * scale  # [BLOCK]
        scores = tl.where(mask, scores, -float("inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=0))
        weights = tl.exp(scores - new_m)
        rescale = tl.exp(m - new_m)
        s = s * rescale + tl.sum(weights, axis=0)
        v = tl.load(v_ptr + places, mask=mask[:, None], other=0.0)  # [BLOCK, HEAD]
        total = total * rescale + tl.sum(weights[:, None] * v, axis=0)
        m = new_m
    tl.store(out_ptr + query * HEAD + columns, total / s)
# --8<-- [end:kernel]


if __name__ == "__main__":
    # --8<-- [start:launch]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    q = torch.randn(5, 64, device=device)  # five queries
    k, v = torch.randn(2, 300, 64, device=device)  # 300 keys, each with its value
    out = torch.empty_like(q)
    one_query_kernel[(5,)](q, k, v, out, 300, 64**-0.5, HEAD=64, BLOCK=32)

    expected = F.scaled_dot_product_attention(q.double(), k.double(), v.double())
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-6)
    print("the same as attention in float64, to float32's digits")
    #> the same as attention in float64, to float32's digits
    # --8<-- [end:launch]
