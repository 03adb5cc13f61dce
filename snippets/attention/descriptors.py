"""Causal attention with tensor descriptors: where a head's keys lie is said once, and the hardware fetches tiles of them."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch.nn.functional as F
import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def described_attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, length, factor,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    # This program owns BLOCK_M queries of one head.
    row = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    rows = row + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    first = tl.program_id(1).to(tl.int64) * length * HEAD  # where the head begins
    q_desc = tl.make_tensor_descriptor(q_ptr + first, [length, HEAD], [HEAD, 1], [BLOCK_M, HEAD])
    k_desc = tl.make_tensor_descriptor(k_ptr + first, [length, HEAD], [HEAD, 1], [BLOCK_N, HEAD])
    v_desc = tl.make_tensor_descriptor(v_ptr + first, [length, HEAD], [HEAD, 1], [BLOCK_N, HEAD])
    out_desc = tl.make_tensor_descriptor(out_ptr + first, [length, HEAD], [HEAD, 1], [BLOCK_M, HEAD])
    q = q_desc.load([row, 0])  # [BLOCK_M, HEAD]
    m = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    s = tl.zeros((BLOCK_M,), tl.float32)
    total = tl.zeros((BLOCK_M, HEAD), tl.float32)
    end = tl.minimum(row + BLOCK_M, length)
    for start in range(0, end, BLOCK_N):
        k = k_desc.load([start, 0])  # [BLOCK_N, HEAD], zero past the last key
        scores = tl.dot(q, k.T)  # [BLOCK_M, BLOCK_N]
        if start + BLOCK_N > row:  # on the diagonal
            keys = start + tl.arange(0, BLOCK_N)
            scores = tl.where(keys[None, :] <= rows[:, None], scores, -float("inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1) * factor)
        weights = tl.math.exp2(scores * factor - new_m[:, None])
        rescale = tl.math.exp2(m - new_m)
        s = s * rescale + tl.sum(weights, axis=1)
        v = v_desc.load([start, 0])
        total = tl.dot(weights.to(v.dtype), v, total * rescale[:, None])  # [BLOCK_M, HEAD]
        m = new_m
    out_desc.store([row, 0], (total / s[:, None]).to(out_ptr.dtype.element_ty))  # nothing past the last query
# --8<-- [end:kernel]


# --8<-- [start:launch]
def descriptor_memory(size, alignment, stream):
    """Memory for the descriptors, which the programs of a launch write."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


def described_attention(q, k, v, block_m=128, block_n=64, num_warps=8, num_stages=3):
    heads, length, width = q.shape
    out = torch.empty_like(q)
    triton.set_allocator(descriptor_memory)
    grid, factor = (triton.cdiv(length, block_m), heads), width**-0.5 * 1.4426950408889634
    sides = {"HEAD": width, "BLOCK_M": block_m, "BLOCK_N": block_n}
    options = {"num_warps": num_warps, "num_stages": num_stages}
    described_attention_kernel[grid](q, k, v, out, length, factor, **sides, **options)
    return out
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:check]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 300, 64, device=device).half()
    exact = (q.double(), k.double(), v.double())
    expected = F.scaled_dot_product_attention(*exact, is_causal=True)
    out = described_attention(q, k, v)
    torch.testing.assert_close(out.double(), expected, rtol=1e-2, atol=1e-3)
    print("the same as causal attention in float64, to float16's digits")
    #> the same as causal attention in float64, to float16's digits
    # --8<-- [end:check]
