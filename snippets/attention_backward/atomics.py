"""The backward pass in one kernel, which adds dQ up in memory: right, and on a GPU never twice the same."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

import triton
import triton.language as tl

from kernels.attention import attention
from kernels.tools.benchmark import keep
from snippets.attention_backward.exact import exact, relative_error


# --8<-- [start:kernel]
@triton.jit
def one_kernel_backward_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dq_ptr, dk_ptr, dv_ptr, length, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program owns BLOCK keys and values of one head, and has a share in every dQ.
    head = tl.program_id(1).to(tl.int64) * length
    columns = tl.arange(0, D)  # [D]
    keys = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mine = (head + keys)[:, None] * D + columns[None, :]  # [BLOCK, D]
    is_key = keys < length
    k = tl.load(k_ptr + mine, mask=is_key[:, None], other=0.0)
    v = tl.load(v_ptr + mine, mask=is_key[:, None], other=0.0)
    dk = tl.zeros([BLOCK, D], tl.float32)
    dv = tl.zeros([BLOCK, D], tl.float32)
    for start in range(0, length, BLOCK):
        queries = start + tl.arange(0, BLOCK)  # [BLOCK]
        is_query = queries < length
        rows = (head + queries)[:, None] * D + columns[None, :]
        q = tl.load(q_ptr + rows, mask=is_query[:, None], other=0.0)
        dout = tl.load(dout_ptr + rows, mask=is_query[:, None], other=0.0)
        lse = tl.load(lse_ptr + head + queries, mask=is_query, other=float("inf"))
        delta = tl.load(delta_ptr + head + queries, mask=is_query, other=0.0)
        p = tl.exp(tl.dot(q, k.T) * scale - lse[:, None])  # [queries, keys]
        p = tl.where(is_key[None, :], p, 0.0)
        ds = (p * (tl.dot(dout, v.T) - delta[:, None])).to(q.dtype)
        dv += tl.dot(p.to(dout.dtype).T, dout)
        dk += tl.dot(ds.T, q)
        share = tl.dot(ds, k) * scale  # [queries, D]
        tl.atomic_add(dq_ptr + rows, share, mask=is_query[:, None], sem="relaxed")
    tl.store(dk_ptr + mine, dk * scale, mask=is_key[:, None])
    tl.store(dv_ptr + mine, dv, mask=is_key[:, None])
# --8<-- [end:kernel]


# --8<-- [start:launch]
def gradients_at_once(q, k, v, out, lse, dout, block=32):
    heads, length, D = q.shape
    delta = (dout.float() * out.float()).sum(-1)
    dq = torch.zeros(q.shape, device=q.device)  # in float32, and zero: all add to it
    dk, dv = torch.empty_like(k), torch.empty_like(v)
    grid = (triton.cdiv(length, block), heads)
    given = (q, k, v, dout, lse, delta)
    one_kernel_backward_kernel[grid](
        *given, dq, dk, dv, length, D**-0.5, D=D, BLOCK=block
    )
    return dq.to(q.dtype), dk, dv
# --8<-- [end:launch]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
q, k, v, dout = torch.randn(4, 3, 100, 64, device=device).half()
out, lse, *right = exact(q, k, v, dout)
found = gradients_at_once(q, k, v, out, lse.float(), dout)
assert max(map(relative_error, found, right)) < 1e-3
print("all three gradients agree with float64")
#> all three gradients agree with float64
# --8<-- [end:check]

# --8<-- [start:again]
if device == "cuda":
    q, k, v, dout = torch.randn(4, 8, 4096, 64, device="cuda").half()
    out, lse, *_ = exact(q, k, v, dout)
    lse = lse.float()
    runs = [gradients_at_once(q, k, v, out, lse, dout)[0] for _ in range(5)]
    differ = [int((run != runs[0]).sum()) for run in runs[1:]]
    print(f"of {q.numel()} numbers of dQ, other bits than in the first run: {differ}")

    inputs = [x[None].requires_grad_() for x in (q, k, v)]
    result = attention(*inputs, deterministic=True)
    ours = [torch.autograd.grad(result, inputs, dout[None], retain_graph=True) for _ in range(5)]
    same = all(torch.equal(a, b) for run in ours[1:] for a, b in zip(run, ours[0], strict=True))
    print("kernels.attention, two launches:", "the same bits" if same else "other bits")
# --8<-- [end:again]
    assert same and max(differ)
    furthest = max((run.float() - runs[0].float()).abs().max().item() for run in runs[1:])
    share = max(differ) / q.numel()
    keep(figures={"differ": max(differ), "of": q.numel(), "share": share, "furthest": f"{furthest:.1e}", "same": same})
