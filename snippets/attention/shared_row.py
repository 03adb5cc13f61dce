"""What goes wrong: specialized warps, and a row that the mask and the loads both count from. Half of the rows see too much."""
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
def shared_row_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, length, factor,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, SPECIALIZE: tl.constexpr,
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
    for start in tl.range(0, end, BLOCK_N, warp_specialize=SPECIALIZE):
        k = k_desc.load([start, 0])  # [BLOCK_N, HEAD]
        scores = tl.dot(q, k.T)  # [BLOCK_M, BLOCK_N]
        keys = start + tl.arange(0, BLOCK_N)
        scores = tl.where(keys[None, :] <= rows[:, None], scores, -float("inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1) * factor)
        weights = tl.math.exp2(scores * factor - new_m[:, None])
        rescale = tl.math.exp2(m - new_m)
        s = s * rescale + tl.sum(weights, axis=1)
        v = v_desc.load([start, 0])
        total = tl.dot(weights.to(v.dtype), v, total * rescale[:, None])  # [BLOCK_M, HEAD]
        m = new_m
    out_desc.store([row, 0], (total / s[:, None]).to(out_ptr.dtype.element_ty))
# --8<-- [end:kernel]


# --8<-- [start:launch]
def shared_row(q, k, v, specialize):
    heads, length, width = q.shape
    triton.set_allocator(specialized_memory)
    out = torch.empty_like(q)
    sides = {"HEAD": width, "BLOCK_M": 128, "BLOCK_N": 128, "SPECIALIZE": specialize}
    options = {"num_warps": 4 if specialize else 8, "num_stages": 2}
    factor = width**-0.5 * 1.4426950408889634
    shared_row_kernel[(length // 128, heads)](q, k, v, out, length, factor, **sides, **options)
    return out
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:count]
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 8, 2048, 128, device="cuda").bfloat16()
    exact, place = [x.double() for x in (q, k, v)], torch.arange(2048, device="cuda")
    second = place % 128 >= 64  # the second half of each tile of 128 queries
    expected = F.scaled_dot_product_attention(*exact, is_causal=True)
    ways = {
        "plain": shared_row(q, k, v, False),
        "specialized": shared_row(q, k, v, True),
        "rows of their own": specialized_attention(q, k, v, True),
    }
    found = {}
    for name, out in ways.items():
        halves = [wrong_rows(out[:, half], expected[:, half]) for half in (~second, second)]
        print(f"{name}: {halves[0]:,} rows are wrong in the first halves of the tiles, {halves[1]:,} in the second")
        found[name.replace(" ", "_")] = halves
    # --8<-- [end:count]

    # --8<-- [start:predict]
    last = torch.where(second, place // 128 * 128 + 127, place)  # a second half that sees all keys of its last tile
    too_far = F.scaled_dot_product_attention(*exact, attn_mask=place[None, :] <= last[:, None])
    off = wrong_rows(ways["specialized"], too_far)
    print(f"specialized, if second halves see their last tile whole: {off:,} rows are off")
    # --8<-- [end:predict]
    keep(figures=found | {"predicted": off, "half": 8 * 1024})
