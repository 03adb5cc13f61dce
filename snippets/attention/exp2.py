"""Causal attention in powers of two: the scale and log2(e) are one factor, and the hardware has exp2."""
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
def exp2_attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, length, factor,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    # This program owns BLOCK_M queries of one head. Those with most to do begin first.
    row = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    rows = row + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    columns = tl.arange(0, HEAD)
    first = tl.program_id(1).to(tl.int64) * length * HEAD  # where the head begins
    places = first + rows[:, None] * HEAD + columns[None, :]
    q = tl.load(q_ptr + places, mask=(rows < length)[:, None], other=0.0)  # [BLOCK_M, HEAD]
    m = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    s = tl.zeros((BLOCK_M,), tl.float32)
    total = tl.zeros((BLOCK_M, HEAD), tl.float32)
    end = tl.minimum(row + BLOCK_M, length)  # keys from here on are open to none of them
    for start in range(0, end, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)  # [BLOCK_N]
        mask = keys < length
        k_places = first + keys[:, None] * HEAD + columns[None, :]
        k = tl.load(k_ptr + k_places, mask=mask[:, None], other=0.0)  # [BLOCK_N, HEAD]
        v = tl.load(v_ptr + k_places, mask=mask[:, None], other=0.0)
        scores = tl.dot(q, k.T)  # [BLOCK_M, BLOCK_N], not scaled yet
        if start + BLOCK_N > row:  # on the diagonal
            scores = tl.where(keys[None, :] <= rows[:, None], scores, -float("inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1) * factor)
        weights = tl.math.exp2(scores * factor - new_m[:, None])  # [BLOCK_M, BLOCK_N]
        rescale = tl.math.exp2(m - new_m)
        s = s * rescale + tl.sum(weights, axis=1)
        total = tl.dot(weights.to(v.dtype), v, total * rescale[:, None])  # [BLOCK_M, HEAD]
        m = new_m
    tl.store(out_ptr + places, total / s[:, None], mask=(rows < length)[:, None])
# --8<-- [end:kernel]


if __name__ == "__main__":
    # --8<-- [start:launch]
    LOG2_E = 1.4426950408889634  # exp(x) is exp2(x * LOG2_E)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 150, 64, device=device).half()  # two heads, 150 tokens
    out = torch.empty_like(q)
    grid, factor = (triton.cdiv(150, 64), 2), 64**-0.5 * LOG2_E
    exp2_attention_kernel[grid](q, k, v, out, 150, factor, HEAD=64, BLOCK_M=64, BLOCK_N=32)

    exact = (q.double(), k.double(), v.double())
    expected = F.scaled_dot_product_attention(*exact, is_causal=True)
    torch.testing.assert_close(out.double(), expected, rtol=1e-2, atol=1e-3)
    print("the same as causal attention in float64, to float16's digits")
    #> the same as causal attention in float64, to float16's digits
    # --8<-- [end:launch]
