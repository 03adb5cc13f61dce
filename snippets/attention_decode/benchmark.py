"""Time a decode step: one program a head, split and joined, PyTorch's attention and the library's, beside a copy's rate."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.attention import attention
from kernels.tools.benchmark import Benchmark


@triton.jit
def timed_part_kernel(
    q_ptr, k_ptr, v_ptr, part_ptr, lse_ptr, length, part_length, group, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program owns part_length of the keys that one head's query sees.
    head, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    columns = tl.arange(0, D)  # [D]
    q = tl.load(q_ptr + head * D + columns).to(tl.float32) * scale
    first = head // group * length
    peak, total = -float("inf"), 0.0
    out = tl.zeros([D], tl.float32)
    end = tl.minimum((part + 1) * part_length, length)
    for start in range(part * part_length, end, BLOCK):
        keys = start + tl.arange(0, BLOCK)  # [BLOCK]
        mask = keys < end
        at = (first + keys)[:, None] * D + columns[None, :]  # [BLOCK, D]
        k = tl.load(k_ptr + at, mask=mask[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=mask[:, None], other=0.0)
        scores = tl.sum(k.to(tl.float32) * q[None, :], axis=1)  # [BLOCK]
        scores = tl.where(mask, scores, -float("inf"))
        new_peak = tl.maximum(peak, tl.max(scores, axis=0))
        p = tl.exp(scores - new_peak)
        shrink = tl.exp(peak - new_peak)
        total = total * shrink + tl.sum(p, axis=0)
        out = out * shrink + tl.sum(v.to(tl.float32) * p[:, None], axis=0)
        peak = new_peak
    place = head * tl.num_programs(1) + part
    tl.store(part_ptr + place * D + columns, out / total)
    tl.store(lse_ptr + place, peak + tl.log(total))


@triton.jit
def timed_join_kernel(part_ptr, lse_ptr, out_ptr, n_parts, D: tl.constexpr, PARTS: tl.constexpr):
    # This program owns one head's query.
    head = tl.program_id(0).to(tl.int64)
    columns, parts = tl.arange(0, D), tl.arange(0, PARTS)
    mask = parts < n_parts
    at = head * n_parts + parts  # [PARTS]
    lse = tl.load(lse_ptr + at, mask=mask, other=-float("inf"))
    shares = tl.exp(lse - tl.max(lse, axis=0))
    out = tl.load(part_ptr + at[:, None] * D + columns[None, :], mask=mask[:, None], other=0.0)
    tl.store(out_ptr + head * D + columns, tl.sum(out * shares[:, None], axis=0) / tl.sum(shares, axis=0))


def decode(q, k, v, parts):
    batch, heads, _, D = q.shape
    length, group = k.shape[2], heads // k.shape[1]
    part_length = triton.cdiv(triton.cdiv(length, parts), 64) * 64
    parts = triton.cdiv(length, part_length)
    part = torch.empty(batch * heads, parts, D, device=q.device)
    lse = torch.empty(batch * heads, parts, device=q.device)
    out = torch.empty_like(q)
    given = (length, part_length, group, D**-0.5)
    timed_part_kernel[(batch * heads, parts)](q, k, v, part, lse, *given, D=D, BLOCK=64)
    timed_join_kernel[(batch * heads,)](part, lse, out, parts, D=D, PARTS=triton.next_power_of_2(parts))
    return out


def exact(q, k, v):
    """In float64, the heads that share keys side by side."""
    q = q.double().view(*k.shape[:2], -1, q.shape[3])
    weights = torch.softmax(q @ k.double().mT * q.shape[-1] ** -0.5, dim=-1)
    return (weights @ v.double()).flatten(1, 2).unsqueeze(2)


# Sequences, heads of queries, heads of keys, keys.
CASES = [(1, 32, 32, 4096), (1, 32, 32, 32768), (1, 32, 32, 131072), (16, 32, 32, 4096)]
CASES += [(1, 32, 8, 4096), (1, 32, 8, 32768), (1, 32, 8, 131072), (16, 32, 8, 8192), (64, 32, 8, 8192)]
PROCESSORS = torch.cuda.get_device_properties(0).multi_processor_count
benchmark = Benchmark()
for batch, heads, k_heads, length in CASES:
    q = torch.randn(batch, heads, 1, 128, device="cuda").bfloat16()
    k, v = (torch.randn(batch, k_heads, length, 128, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    parts = max(1, min(triton.cdiv(4 * PROCESSORS, batch * heads), length // 256))
    ways = {
        "one": lambda: decode(q, k, v, 1),
        "split": lambda: decode(q, k, v, parts),
        "eager": lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=heads != k_heads),
        "blockwise": lambda: attention(q, k, v, enable_gqa=heads != k_heads),
    }
    shape, moved = f"B{batch}S{length}H{heads}/{k_heads}D128", k.nbytes + v.nbytes + 2 * q.nbytes
    flops = 4 * batch * heads * length * 128
    benchmark.case("attention_decode_ladder", "fwd", shape, q.dtype, moved, flops, ways, exact(q, k, v))
benchmark.finish()
