"""A last tile that is shorter than the others: the keys that are not there score zero, and zero is not minus infinity."""
import os

import torch

if __name__ == "__main__" and not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import torch
import triton
import triton.language as tl


# --8<-- [start:kernel]
@triton.jit
def tail_attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, length,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, MASK_SCORES: tl.constexpr,
):
    rows, columns = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, HEAD)
    places = rows.to(tl.int64)[:, None] * HEAD + columns[None, :]
    q = tl.load(q_ptr + places, mask=(rows < length)[:, None], other=0.0)
    m = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    s = tl.zeros((BLOCK_M,), tl.float32)
    total = tl.zeros((BLOCK_M, HEAD), tl.float32)
    for start in range(0, length, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k_places, mask = keys.to(tl.int64)[:, None] * HEAD + columns[None, :], (keys < length)[:, None]
        k = tl.load(k_ptr + k_places, mask=mask, other=0.0)  # the loads are masked either way
        v = tl.load(v_ptr + k_places, mask=mask, other=0.0)
        scores = tl.dot(q, k.T) * HEAD**-0.5
        if MASK_SCORES:
            scores = tl.where((keys < length)[None, :], scores, -float("inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1))
        weights, rescale = tl.exp(scores - new_m[:, None]), tl.exp(m - new_m)
        s = s * rescale + tl.sum(weights, axis=1)
        total = tl.dot(weights.to(v.dtype), v, total * rescale[:, None])
        m = new_m
    tl.store(out_ptr + places, total / s[:, None], mask=(rows < length)[:, None])
# --8<-- [end:kernel]


# --8<-- [start:tail]
device = "cuda" if torch.cuda.is_available() else "cpu"
for length in (128, 150):
    q = torch.zeros(length, 64, device=device).half()  # every score is 0, so every key has the same weight
    ones = torch.ones_like(q)  # and every value is 1, so the mean is 1
    for mask_scores in (True, False):
        out = torch.empty_like(q)
        grid = (triton.cdiv(length, 64),)
        tail_attention_kernel[grid](q, ones, ones, out, length, 64, 64, 64, mask_scores)
        print(f"{length} keys, scores masked: {str(mask_scores):5}  {out.min():.4f} to {out.max():.4f}")
        #> 128 keys, scores masked: True   1.0000 to 1.0000
        #> 128 keys, scores masked: False  1.0000 to 1.0000
        #> 150 keys, scores masked: True   1.0000 to 1.0000
        #> 150 keys, scores masked: False  0.7812 to 0.7812
# --8<-- [end:tail]
