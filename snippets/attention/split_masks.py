"""Specialized warps, and the masks in a loop of their own: what the compiler says, and what comes out."""
# needs: sm_90
import sys

import torch
import torch.nn.functional as F

if __name__ == "__main__" and (not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0)):
    print("needs: sm_90 (a GPU of compute capability 9.0)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import keep
from snippets.attention.specialized import specialized_attention, specialized_memory, wrong_rows


# --8<-- [start:kernel]
@triton.jit
def take_tile(q, k_desc, v_desc, m, s, total, rows, start, factor, BLOCK_N: tl.constexpr, MASKED: tl.constexpr):
    """Take BLOCK_N keys and their values into the sums."""
    k = k_desc.load([start, 0])  # [BLOCK_N, HEAD], zero past the last key
    v = v_desc.load([start, 0])
    scores = tl.dot(q, k.T)  # [BLOCK_M, BLOCK_N]
    if MASKED:
        keys = start + tl.arange(0, BLOCK_N)
        scores = tl.where(keys[None, :] <= rows[:, None], scores, -float("inf"))
    new_m = tl.maximum(m, tl.max(scores, axis=1) * factor)
    weights = tl.math.exp2(scores * factor - new_m[:, None])
    rescale = tl.math.exp2(m - new_m)
    s = s * rescale + tl.sum(weights, axis=1)
    total = tl.dot(weights.to(v.dtype), v, total * rescale[:, None])  # [BLOCK_M, HEAD]
    return new_m, s, total


@triton.jit
def two_loops_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, length, factor,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, SPECIALIZE: tl.constexpr,
):
    # This program owns BLOCK_M queries of one head. BLOCK_M is a multiple of BLOCK_N.
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
    for start in tl.range(0, row, BLOCK_N, warp_specialize=SPECIALIZE):
        m, s, total = take_tile(q, k_desc, v_desc, m, s, total, rows, start, factor, BLOCK_N, False)
    for start in tl.range(row, tl.minimum(row + BLOCK_M, length), BLOCK_N, warp_specialize=SPECIALIZE):
        m, s, total = take_tile(q, k_desc, v_desc, m, s, total, rows, start, factor, BLOCK_N, True)
    out_desc.store([row, 0], (total / s[:, None]).to(out_ptr.dtype.element_ty))
# --8<-- [end:kernel]


# --8<-- [start:launch]
def two_loops(q, k, v, block_n, specialize, num_stages=2):
    heads, length, width = q.shape
    triton.set_allocator(specialized_memory)
    out = torch.full_like(q, float("nan"))
    sides = {"HEAD": width, "BLOCK_M": 128, "BLOCK_N": block_n, "SPECIALIZE": specialize}
    options = {"num_warps": 4 if specialize else 8, "num_stages": num_stages}
    factor = width**-0.5 * 1.4426950408889634
    two_loops_kernel[(length // 128, heads)](q, k, v, out, length, factor, **sides, **options)
    return out
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:count]
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 16, 4096, 128, device="cuda").bfloat16()
    expected = F.scaled_dot_product_attention(*(x.double() for x in (q, k, v)), is_causal=True)
    ways = {
        "one loop, specialized": lambda: specialized_attention(q, k, v, True),
        "two loops, not specialized": lambda: two_loops(q, k, v, 128, False),
        "two loops, specialized": lambda: two_loops(q, k, v, 128, True),
        "two loops, specialized, 64 keys": lambda: two_loops(q, k, v, 64, True),
    }
    found = {}
    for name, way in ways.items():
        try:
            out = way()
            off, largest = wrong_rows(out, expected), out.abs().max().item()
            found[name] = f"{off:,} of {out[..., 0].numel():,} rows are wrong, the largest number is {largest:.3g}"
        except Exception as error:
            found[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:60]}"
        print(f"{name}: {found[name]}")
    # --8<-- [end:count]

    keep(figures={"found": found})
