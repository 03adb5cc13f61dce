"""A decode step: one query a head over many keys, shared out among programs and joined in a second launch."""
# counters: one split blockwise
import os
import sys

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import triton
import triton.language as tl
# --8<-- [end:imports]

from kernels.attention import attention
from kernels.tools.benchmark import keep


# --8<-- [start:part]
@triton.jit
def decode_part_kernel(
    q_ptr, k_ptr, v_ptr, part_ptr, lse_ptr, length, part_length, group, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program owns part_length of the keys that one head's query sees.
    head, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    columns = tl.arange(0, D)  # [D]
    q = tl.load(q_ptr + head * D + columns).to(tl.float32) * scale
    first = head // group * length  # `group` heads of queries share one of keys
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
# --8<-- [end:part]


# --8<-- [start:join]
@triton.jit
def decode_join_kernel(
    part_ptr, lse_ptr, out_ptr, n_parts, D: tl.constexpr, PARTS: tl.constexpr
):
    # This program owns one head's query.
    head = tl.program_id(0).to(tl.int64)
    columns, parts = tl.arange(0, D), tl.arange(0, PARTS)
    mask = parts < n_parts
    at = head * n_parts + parts  # [PARTS]
    lse = tl.load(lse_ptr + at, mask=mask, other=-float("inf"))
    shares = tl.exp(lse - tl.max(lse, axis=0))
    out = tl.load(part_ptr + at[:, None] * D + columns[None, :], mask=mask[:, None], other=0.0)
    out = tl.sum(out * shares[:, None], axis=0) / tl.sum(shares, axis=0)  # [D]
    tl.store(out_ptr + head * D + columns, out)
# --8<-- [end:join]


# --8<-- [start:launch]
def decode(q, k, v, parts):
    """One query a head, of shape [B, H, 1, D], over keys and values of shape [B, K, S, D]."""
    batch, heads, _, D = q.shape
    length, group = k.shape[2], heads // k.shape[1]
    part_length = triton.cdiv(triton.cdiv(length, parts), 64) * 64
    parts = triton.cdiv(length, part_length)  # none is empty
    part = torch.empty(batch * heads, parts, D, device=q.device)
    lse = torch.empty(batch * heads, parts, device=q.device)
    out = torch.empty_like(q)
    given = (length, part_length, group, D**-0.5)
    decode_part_kernel[(batch * heads, parts)](
        q, k, v, part, lse, *given, D=D, BLOCK=64
    )
    sizes = {"D": D, "PARTS": triton.next_power_of_2(parts)}
    decode_join_kernel[(batch * heads,)](part, lse, out, parts, **sizes)
    return out
# --8<-- [end:launch]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
q = torch.randn(2, 4, 1, 64, device=device)
k, v = torch.randn(2, 2, 2, 1000, 64, device=device)
right = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
for parts in (1, 3, 16):
    torch.testing.assert_close(decode(q, k, v, parts), right)
print("the same in 1, 3 or 16 parts")
#> the same in 1, 3 or 16 parts
# --8<-- [end:check]

if device == "cuda":
    torch.manual_seed(0)
    q = torch.randn(1, 32, 1, 128, device="cuda").bfloat16()
    k, v = torch.randn(2, 1, 32, 32768, 128, device="cuda").bfloat16()
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    ways = {
        "one": lambda: decode(q, k, v, 1),
        "split": lambda: decode(q, k, v, triton.cdiv(4 * processors, 32)),
        "blockwise": lambda: attention(q, k, v),
    }
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        keep(figures={"floor": k.nbytes + v.nbytes + 2 * q.nbytes, "processors": processors, "heads": 32})
