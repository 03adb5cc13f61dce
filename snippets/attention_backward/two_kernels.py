"""The smallest backward pass: one kernel owns keys and walks over queries, one owns queries and walks over keys."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]


# --8<-- [start:keys]
@triton.jit
def keys_gradient_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, length, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program owns BLOCK keys and values of one head.
    head = tl.program_id(1).to(tl.int64) * length
    columns = tl.arange(0, D)  # [D]
    keys = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mine = (head + keys)[:, None] * D + columns[None, :]  # [BLOCK, D]
    is_key = (keys < length)[:, None]
    k = tl.load(k_ptr + mine, mask=is_key, other=0.0)
    v = tl.load(v_ptr + mine, mask=is_key, other=0.0)
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
        dp = tl.dot(dout, v.T)
        ds = p * (dp - delta[:, None])
        dv += tl.dot(p.to(dout.dtype).T, dout)
        dk += tl.dot(ds.to(q.dtype).T, q)
    tl.store(dk_ptr + mine, dk * scale, mask=is_key)
    tl.store(dv_ptr + mine, dv, mask=is_key)
# --8<-- [end:keys]


# --8<-- [start:queries]
@triton.jit
def queries_gradient_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dq_ptr, length, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program owns BLOCK queries of one head.
    head = tl.program_id(1).to(tl.int64) * length
    columns = tl.arange(0, D)  # [D]
    queries = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    mine = (head + queries)[:, None] * D + columns[None, :]  # [BLOCK, D]
    is_query = queries < length
    q = tl.load(q_ptr + mine, mask=is_query[:, None], other=0.0)
    dout = tl.load(dout_ptr + mine, mask=is_query[:, None], other=0.0)
    lse = tl.load(lse_ptr + head + queries, mask=is_query, other=float("inf"))
    delta = tl.load(delta_ptr + head + queries, mask=is_query, other=0.0)
    dq = tl.zeros([BLOCK, D], tl.float32)
    for start in range(0, length, BLOCK):
        keys = start + tl.arange(0, BLOCK)  # [BLOCK]
        is_key = keys < length
        rows = (head + keys)[:, None] * D + columns[None, :]
        k = tl.load(k_ptr + rows, mask=is_key[:, None], other=0.0)
        v = tl.load(v_ptr + rows, mask=is_key[:, None], other=0.0)
        p = tl.exp(tl.dot(q, k.T) * scale - lse[:, None])  # [queries, keys]
        p = tl.where(is_key[None, :], p, 0.0)
        ds = p * (tl.dot(dout, v.T) - delta[:, None])
        dq += tl.dot(ds.to(k.dtype), k)
    tl.store(dq_ptr + mine, dq * scale, mask=is_query[:, None])
# --8<-- [end:queries]


# --8<-- [start:launch]
def gradients(q, k, v, out, lse, dout, block=32):
    """Of tensors of shape [heads, length, D]."""
    heads, length, D = q.shape
    delta = (dout.float() * out.float()).sum(-1)  # [heads, length]
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    grid = (triton.cdiv(length, block), heads)
    given = (q, k, v, dout, lse, delta)
    sizes = (length, D**-0.5)
    keys_gradient_kernel[grid](*given, dk, dv, *sizes, D=D, BLOCK=block)
    queries_gradient_kernel[grid](*given, dq, *sizes, D=D, BLOCK=block)
    return dq, dk, dv
# --8<-- [end:launch]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
q, k, v, dout = torch.randn(4, 3, 100, 64, device=device).half()
inputs = [x.double().requires_grad_() for x in (q, k, v)]
scores = inputs[0] @ inputs[1].mT / 8  # 8 is the root of 64
exact_out = torch.softmax(scores, dim=-1) @ inputs[2]
exact_gradients = torch.autograd.grad(exact_out, inputs, dout.double())

out, lse = exact_out.detach().half(), scores.detach().logsumexp(-1).float()
for found, right in zip(gradients(q, k, v, out, lse, dout), exact_gradients, strict=True):
    assert (found - right).norm() < 1e-3 * right.norm()
print("all three gradients agree with float64")
#> all three gradients agree with float64
# --8<-- [end:check]
