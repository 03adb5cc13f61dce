"""Time every step of the backward ladder in one run, causal, beside PyTorch's flash backward and the library's, each checked.

The kernels are those of the pages with a switch for each step. All lengths are multiples of the tiles.
"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.utils.deterministic
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel

from kernels.attention import attention
from kernels.tools.benchmark import Benchmark, keep
from snippets.attention_backward.exact import exact, relative_error


@triton.jit
def timed_delta_kernel(out_ptr, dout_ptr, delta_ptr, D: tl.constexpr, BLOCK: tl.constexpr):
    # This program owns BLOCK queries.
    rows = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # [BLOCK]
    at = rows[:, None] * D + tl.arange(0, D)[None, :]  # [BLOCK, D]
    out, dout = tl.load(out_ptr + at).to(tl.float32), tl.load(dout_ptr + at).to(tl.float32)
    tl.store(delta_ptr + rows, tl.sum(out * dout, axis=1))


@triton.jit
def timed_keys_step(
    start, q_ptr, dout_ptr, dq_ptr, limit_ptr, delta_ptr, keys, k, v, dk, dv, scale, dq_scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, EXP2: tl.constexpr, TURNED: tl.constexpr, ATOMIC: tl.constexpr,
    MASKED: tl.constexpr,
):
    queries = start + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    rows = queries[:, None] * D + tl.arange(0, D)[None, :]  # [BLOCK_M, D]
    q, dout = tl.load(q_ptr + rows), tl.load(dout_ptr + rows)
    limit, delta = tl.load(limit_ptr + queries), tl.load(delta_ptr + queries)
    if TURNED:  # all that is as large as a tile of weights lies on its side
        scores = tl.dot(k, q.T) * scale
        p = tl.exp2(scores - limit[None, :]) if EXP2 else tl.exp(scores - limit[None, :])
        if MASKED:
            p = tl.where(queries[None, :] >= keys[:, None], p, 0.0)  # [BLOCK_N, BLOCK_M]
        dv = tl.dot(p.to(dout.dtype), dout, dv)
        ds = (p * (tl.dot(v, dout.T) - delta[None, :])).to(q.dtype)
        dk = tl.dot(ds, q, dk)
        if ATOMIC:
            tl.atomic_add(dq_ptr + rows, tl.dot(ds.T, k) * dq_scale, sem="relaxed")
    else:
        scores = tl.dot(q, k.T) * scale
        p = tl.exp2(scores - limit[:, None]) if EXP2 else tl.exp(scores - limit[:, None])
        if MASKED:
            p = tl.where(queries[:, None] >= keys[None, :], p, 0.0)  # [BLOCK_M, BLOCK_N]
        dv = tl.dot(p.to(dout.dtype).T, dout, dv)
        ds = (p * (tl.dot(dout, v.T) - delta[:, None])).to(q.dtype)
        dk = tl.dot(ds.T, q, dk)
        if ATOMIC:
            tl.atomic_add(dq_ptr + rows, tl.dot(ds, k) * dq_scale, sem="relaxed")
    return dk, dv


@triton.jit
def timed_keys_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, limit_ptr, delta_ptr, dq_ptr, dk_ptr, dv_ptr, length, scale, out_scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    SKIP: tl.constexpr, EXP2: tl.constexpr, EDGES: tl.constexpr, TURNED: tl.constexpr, ATOMIC: tl.constexpr,
):
    # This program owns BLOCK_N keys and values of one head.
    head = tl.program_id(1).to(tl.int64) * length
    first = (tl.program_id(0).to(tl.int64) * BLOCK_N).to(tl.int32)
    keys = first + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    mine = (head + keys)[:, None] * D + tl.arange(0, D)[None, :]  # [BLOCK_N, D]
    k, v = tl.load(k_ptr + mine), tl.load(v_ptr + mine)
    q_ptr, dout_ptr, dq_ptr = q_ptr + head * D, dout_ptr + head * D, dq_ptr + head * D
    limit_ptr, delta_ptr = limit_ptr + head, delta_ptr + head
    dk, dv = tl.zeros([BLOCK_N, D], tl.float32), tl.zeros([BLOCK_N, D], tl.float32)
    begin = first // BLOCK_M * BLOCK_M if SKIP else 0
    plain = length
    if EDGES:  # from here on every query sees every one of the keys
        plain = tl.minimum(tl.cdiv(first + BLOCK_N - 1, BLOCK_M) * BLOCK_M, length)
    for start in tl.range(begin, plain, BLOCK_M):
        dk, dv = timed_keys_step(
            start, q_ptr, dout_ptr, dq_ptr, limit_ptr, delta_ptr, keys, k, v, dk, dv, scale, out_scale,
            D, BLOCK_M, EXP2, TURNED, ATOMIC, True,
        )
    if EDGES:
        for start in tl.range(plain, length, BLOCK_M):
            dk, dv = timed_keys_step(
                start, q_ptr, dout_ptr, dq_ptr, limit_ptr, delta_ptr, keys, k, v, dk, dv, scale, out_scale,
                D, BLOCK_M, EXP2, TURNED, ATOMIC, False,
            )
    tl.store(dk_ptr + mine, dk * out_scale)
    tl.store(dv_ptr + mine, dv)


@triton.jit
def timed_queries_step(
    start, k_ptr, v_ptr, queries, q, dout, limit, delta, dq, scale,
    D: tl.constexpr, BLOCK_N: tl.constexpr, EXP2: tl.constexpr, MASKED: tl.constexpr,
):
    keys = start + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    rows = keys[:, None] * D + tl.arange(0, D)[None, :]  # [BLOCK_N, D]
    k, v = tl.load(k_ptr + rows), tl.load(v_ptr + rows)
    scores = tl.dot(q, k.T) * scale
    p = tl.exp2(scores - limit[:, None]) if EXP2 else tl.exp(scores - limit[:, None])
    if MASKED:
        p = tl.where(queries[:, None] >= keys[None, :], p, 0.0)  # [BLOCK_M, BLOCK_N]
    ds = (p * (tl.dot(dout, v.T) - delta[:, None])).to(q.dtype)
    return tl.dot(ds, k, dq)


@triton.jit
def timed_queries_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, limit_ptr, delta_ptr, dq_ptr, length, scale, out_scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    SKIP: tl.constexpr, EXP2: tl.constexpr, EDGES: tl.constexpr,
):
    # This program owns BLOCK_M queries of one head.
    head = tl.program_id(1).to(tl.int64) * length
    first = (tl.program_id(0).to(tl.int64) * BLOCK_M).to(tl.int32)
    queries = first + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    mine = (head + queries)[:, None] * D + tl.arange(0, D)[None, :]  # [BLOCK_M, D]
    q, dout = tl.load(q_ptr + mine), tl.load(dout_ptr + mine)
    limit, delta = tl.load(limit_ptr + head + queries), tl.load(delta_ptr + head + queries)
    k_ptr, v_ptr = k_ptr + head * D, v_ptr + head * D
    dq = tl.zeros([BLOCK_M, D], tl.float32)
    end = first + BLOCK_M if SKIP else length
    plain = 0
    if EDGES:  # up to here every query sees every key
        plain = (first + 1) // BLOCK_N * BLOCK_N
        for start in tl.range(0, plain, BLOCK_N):
            dq = timed_queries_step(start, k_ptr, v_ptr, queries, q, dout, limit, delta, dq, scale, D, BLOCK_N, EXP2, False)
    for start in tl.range(plain, end, BLOCK_N):
        dq = timed_queries_step(start, k_ptr, v_ptr, queries, q, dout, limit, delta, dq, scale, D, BLOCK_N, EXP2, True)
    tl.store(dq_ptr + mine, dq * out_scale)


OF_TWO = 1.4426950408889634
PLAIN = {"SKIP": False, "EXP2": False, "EDGES": False, "TURNED": False}


def step(inputs, options, keys_tile, queries_tile=None):
    """The gradients by two kernels, or by one where no tile is given for the second; a tile is sides, warps and stages."""
    q, k, v, out, lse, dout = inputs
    batch, heads, length, D = q.shape
    delta = torch.empty_like(lse)
    timed_delta_kernel[(lse.numel() // 32,)](out, dout, delta, D=D, BLOCK=32)
    limit, scale = lse, D**-0.5
    if options["EXP2"]:
        limit, scale = lse * OF_TWO, scale * OF_TWO
    atomic = queries_tile is None
    dq = torch.zeros(q.shape, device=q.device) if atomic else torch.empty_like(q)
    dk, dv = torch.empty_like(k), torch.empty_like(v)
    rows, columns, warps, stages = keys_tile
    sides = {"D": D, "BLOCK_M": rows, "BLOCK_N": columns, "num_warps": warps, "num_stages": stages}
    given = (q, k, v, dout, limit, delta, dq)
    grid = (length // columns, batch * heads)
    timed_keys_kernel[grid](*given, dk, dv, length, scale, D**-0.5, **sides, **options, ATOMIC=atomic)
    if queries_tile is not None:
        rows, columns, warps, stages = queries_tile
        sides |= {"BLOCK_M": rows, "BLOCK_N": columns, "num_warps": warps, "num_stages": stages}
        left = {name: options[name] for name in ("SKIP", "EXP2", "EDGES")}
        timed_queries_kernel[(length // rows, batch * heads)](*given, length, scale, D**-0.5, **sides, **left)
    return dq.to(q.dtype), dk, dv


def all_exact(q, k, v, dout):
    """Head by head, because a matrix of weights in float64 is large."""
    heads = [exact(*(x[b, h] for x in (q, k, v, dout)), is_causal=True) for b in range(q.shape[0]) for h in range(q.shape[1])]
    return [torch.stack(each).view(*q.shape[:2], *each[0].shape) for each in zip(*heads, strict=True)]


def backward_of(function, q, k, v, dout):
    """The backward pass alone, as PyTorch calls it."""
    inputs = [x.detach().requires_grad_() for x in (q, k, v)]
    result = function(*inputs)
    return lambda: torch.autograd.grad(result, inputs, dout, retain_graph=True)


def sdpa(backend):
    def function(q, k, v):
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    return function


def deterministic(way):
    def run():
        torch.use_deterministic_algorithms(True)
        gradients = way()
        torch.use_deterministic_algorithms(False)
        return gradients

    return run


torch.utils.deterministic.fill_uninitialized_memory = False
SMALL = (64, 64, 4, 1)
STAGED, BEST_KEYS, BEST_QUERIES, ONE = (64, 64, 4, 2), (64, 128, 8, 1), (128, 64, 8, 3), (64, 128, 8, 2)
if __name__ == "__main__":
    benchmark, failed = Benchmark(), {}
    for shape in ((4, 16, 4096, 128), (16, 16, 1024, 128)):
        q, k, v, dout = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(4))
        out, lse, *right = all_exact(q, k, v, dout)
        inputs = (q, k, v, out.bfloat16(), lse.float(), dout)
        skip, exp2 = PLAIN | {"SKIP": True}, PLAIN | {"SKIP": True, "EXP2": True}
        edges, turned = exp2 | {"EDGES": True}, exp2 | {"EDGES": True, "TURNED": True}
        flash = backward_of(sdpa(SDPBackend.FLASH_ATTENTION), q, k, v, dout)
        ways = {
            "everything": lambda: step(inputs, PLAIN, SMALL, SMALL),
            "skip": lambda: step(inputs, skip, SMALL, SMALL),
            "exp2": lambda: step(inputs, exp2, SMALL, SMALL),
            "edges": lambda: step(inputs, edges, SMALL, SMALL),
            "turned": lambda: step(inputs, turned, SMALL, SMALL),
            "stages": lambda: step(inputs, turned, STAGED, STAGED),
            "tiles": lambda: step(inputs, turned, BEST_KEYS, BEST_QUERIES),
            "upright": lambda: step(inputs, edges, BEST_KEYS, BEST_QUERIES),
            "atomics": lambda: step(inputs, turned, ONE),
            "eager": flash,
            "eager_same": deterministic(flash),
            "cudnn": backward_of(sdpa(SDPBackend.CUDNN_ATTENTION), q, k, v, dout),
            "blockwise": backward_of(lambda q, k, v: attention(q, k, v, is_causal=True), q, k, v, dout),
        }
        timed = {}
        for name, way in ways.items():
            off = max(map(relative_error, way(), right))
            if off < 1.6e-2:
                timed[name] = lambda way=way: way()[0]
            else:
                failed[f"{shape} {name}"] = f"{off:.1e}"
        name, flops = "x".join(map(str, shape)), 5 * q.numel() * shape[2]
        benchmark.case("attention_backward_ladder", "bwd", name, q.dtype, 8 * q.nbytes, flops, timed, right[0])
    print("failed:", failed or "none")
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed})
