"""Specialized warps: some fetch keys and values, others multiply. One loop, asked by one word, and a mask on every tile."""
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

from kernels.tools.benchmark import keep


# --8<-- [start:kernel]
@triton.jit
def specialized_attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, length, factor,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, SPECIALIZE: tl.constexpr,
):
    # This program owns BLOCK_M queries of one head.
    row = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    rows = tl.arange(0, BLOCK_M)  # counted from `row` on, and so are the keys
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
        keys = start - row + tl.arange(0, BLOCK_N)
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
def specialized_memory(size, alignment, stream):
    """Memory for the descriptors, which the programs of a launch write."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


def can_specialize():
    """Only here it is known to be right: compute capability 9.0, this tile, four warps."""
    return torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)


def specialized_attention(q, k, v, specialize):
    heads, length, width = q.shape
    out = torch.empty_like(q)
    triton.set_allocator(specialized_memory)
    grid, factor = (triton.cdiv(length, 128), heads), width**-0.5 * 1.4426950408889634
    sides = {"HEAD": width, "BLOCK_M": 128, "BLOCK_N": 128, "SPECIALIZE": specialize}
    options = {"num_warps": 4 if specialize else 8, "num_stages": 2}
    specialized_attention_kernel[grid](q, k, v, out, length, factor, **sides, **options)
    return out


def wrong_rows(out, expected):
    """How many rows are off by more than one part in fifty, or are not numbers."""
    off = (out.double() - expected).norm(dim=-1)
    return int((~(off < 0.02 * expected.norm(dim=-1))).sum())
# --8<-- [end:launch]


if __name__ == "__main__":
    # --8<-- [start:check]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 300, 64, device=device).half()
    exact = (q.double(), k.double(), v.double())
    expected = F.scaled_dot_product_attention(*exact, is_causal=True)
    out = specialized_attention(q, k, v, specialize=can_specialize())
    print("wrong rows of all:", wrong_rows(out, expected))
    #> wrong rows of all: 0
    # --8<-- [end:check]

    if can_specialize():
        q, k, v = torch.randn(3, 16, 4096, 128, device="cuda", dtype=torch.bfloat16)
        expected = F.scaled_dot_product_attention(*(x.double() for x in (q, k, v)), is_causal=True)
        figures = {"wrong": wrong_rows(specialized_attention(q, k, v, True), expected)}
        sides = {"HEAD": 128, "BLOCK_M": 128, "BLOCK_N": 128}
        for name, specialize, num_warps in (("specialized", True, 4), ("plain", False, 8)):
            arguments = (q, k, v, torch.empty_like(q), 4096, 0.125)
            options = {"SPECIALIZE": specialize, "num_warps": num_warps, "num_stages": 2}
            made = specialized_attention_kernel[(32, 16)](*arguments, **sides, **options)
            figures[name] = {"divided": "ttg.warp_specialize" in made.asm["ttgir"], "warps": made.metadata.num_warps}
            figures[name] |= {"registers": made.n_regs, "spills": made.n_spills, "shared_bytes": made.metadata.shared}
        print(figures)
        keep(figures=figures)
