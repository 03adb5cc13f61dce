"""Causal attention, backward: tiles without an open pair are not walked, and weights are powers of two."""
import os

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

from snippets.attention_backward.exact import exact, relative_error


# --8<-- [start:keys]
@triton.jit
def causal_keys_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, limit_ptr, delta_ptr, dk_ptr, dv_ptr, length, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program owns BLOCK keys and values of one head.
    head = tl.program_id(1).to(tl.int64) * length
    columns = tl.arange(0, D)  # [D]
    first = tl.program_id(0).to(tl.int64) * BLOCK
    keys = first + tl.arange(0, BLOCK)  # [BLOCK]
    mine = (head + keys)[:, None] * D + columns[None, :]  # [BLOCK, D]
    is_key = (keys < length)[:, None]
    k = tl.load(k_ptr + mine, mask=is_key, other=0.0)
    v = tl.load(v_ptr + mine, mask=is_key, other=0.0)
    dk = tl.zeros([BLOCK, D], tl.float32)
    dv = tl.zeros([BLOCK, D], tl.float32)
    for start in range(first, length, BLOCK):  # no query before the first key sees one of these
        queries = start + tl.arange(0, BLOCK)  # [BLOCK]
        is_query = queries < length
        rows = (head + queries)[:, None] * D + columns[None, :]
        q = tl.load(q_ptr + rows, mask=is_query[:, None], other=0.0)
        dout = tl.load(dout_ptr + rows, mask=is_query[:, None], other=0.0)
        limit = tl.load(limit_ptr + head + queries, mask=is_query, other=float("inf"))
        delta = tl.load(delta_ptr + head + queries, mask=is_query, other=0.0)
        p = tl.exp2(tl.dot(q, k.T) * (scale * 1.4426950408889634) - limit[:, None])
        p = tl.where(queries[:, None] >= keys[None, :], p, 0.0)  # [queries, keys]
        ds = p * (tl.dot(dout, v.T) - delta[:, None])
        dv += tl.dot(p.to(dout.dtype).T, dout)
        dk += tl.dot(ds.to(q.dtype).T, q)
    tl.store(dk_ptr + mine, dk * scale, mask=is_key)
    tl.store(dv_ptr + mine, dv, mask=is_key)
# --8<-- [end:keys]


# --8<-- [start:queries]
@triton.jit
def causal_queries_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, limit_ptr, delta_ptr, dq_ptr, length, scale,
    D: tl.constexpr, BLOCK: tl.constexpr,
):
    # This program owns BLOCK queries of one head.
    head = tl.program_id(1).to(tl.int64) * length
    columns = tl.arange(0, D)  # [D]
    first = tl.program_id(0).to(tl.int64) * BLOCK
    queries = first + tl.arange(0, BLOCK)  # [BLOCK]
    mine = (head + queries)[:, None] * D + columns[None, :]  # [BLOCK, D]
    is_query = queries < length
    q = tl.load(q_ptr + mine, mask=is_query[:, None], other=0.0)
    dout = tl.load(dout_ptr + mine, mask=is_query[:, None], other=0.0)
    limit = tl.load(limit_ptr + head + queries, mask=is_query, other=float("inf"))
    delta = tl.load(delta_ptr + head + queries, mask=is_query, other=0.0)
    dq = tl.zeros([BLOCK, D], tl.float32)
    for start in range(0, tl.minimum(first + BLOCK, length), BLOCK):  # no key past the last query is seen
        keys = start + tl.arange(0, BLOCK)  # [BLOCK]
        is_key = keys < length
        rows = (head + keys)[:, None] * D + columns[None, :]
        k = tl.load(k_ptr + rows, mask=is_key[:, None], other=0.0)
        v = tl.load(v_ptr + rows, mask=is_key[:, None], other=0.0)
        p = tl.exp2(tl.dot(q, k.T) * (scale * 1.4426950408889634) - limit[:, None])
        p = tl.where(queries[:, None] >= keys[None, :], p, 0.0)  # [queries, keys]
        ds = p * (tl.dot(dout, v.T) - delta[:, None])
        dq += tl.dot(ds.to(k.dtype), k)
    tl.store(dq_ptr + mine, dq * scale, mask=is_query[:, None])
# --8<-- [end:queries]


# --8<-- [start:launch]
def causal_gradients(q, k, v, out, lse, dout, block=32):
    """Of tensors of shape [heads, length, D]."""
    heads, length, D = q.shape
    delta = (dout.float() * out.float()).sum(-1)
    limit = lse * 1.4426950408889634  # log2(e): the log-sum-exp in powers of two
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    grid = (triton.cdiv(length, block), heads)
    given = (q, k, v, dout, limit, delta)
    sizes = (length, D**-0.5)
    causal_keys_kernel[grid](*given, dk, dv, *sizes, D=D, BLOCK=block)
    causal_queries_kernel[grid](*given, dq, *sizes, D=D, BLOCK=block)
    return dq, dk, dv
# --8<-- [end:launch]


# --8<-- [start:check]
device = "cuda" if torch.cuda.is_available() else "cpu"
q, k, v, dout = torch.randn(4, 3, 100, 64, device=device).half()
out, lse, *right = exact(q, k, v, dout, is_causal=True)
found = causal_gradients(q, k, v, out, lse.float(), dout)
assert max(map(relative_error, found, right)) < 1e-3

tiles = triton.cdiv(100, 32)
walked = sum(tiles - i for i in range(tiles))
print(f"right, with {walked} of {tiles * tiles} tiles walked by each kernel")
#> right, with 10 of 16 tiles walked by each kernel
# --8<-- [end:check]
