"""Time every step of the ladder in one run, beside PyTorch's flash backend, and check every result against float64."""
# needs: cuda
# counters: one_query_head tiles_head exp2 stages_3 specialized flash
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import torch.nn.functional as F
import triton
from torch.nn.attention import SDPBackend, sdpa_kernel

from kernels.tools.benchmark import Benchmark, keep
from snippets.attention.descriptors import described_attention
from snippets.attention.one_query import one_query_kernel
from snippets.attention.pipeline import staged_attention
from snippets.attention.specialized import can_specialize, specialized_attention, wrong_rows
from snippets.attention.split_masks import two_loops
from snippets.attention_tiles.causal import causal_attention_kernel
from snippets.attention_tiles.tiles import query_tile_kernel

BATCHES, HEADS, LENGTH, WIDTH = 4, 16, 4096, 128
SIDES = {"HEAD": WIDTH, "BLOCK_M": 128, "BLOCK_N": 64}


def one_query(q, k, v):
    out = torch.empty_like(q)
    for head in range(q.shape[0]):
        one_query_kernel[(LENGTH,)](q[head], k[head], v[head], out[head], LENGTH, WIDTH**-0.5, HEAD=WIDTH, BLOCK=32)
    return out


def tiled(kernel, q, k, v, num_warps=8, num_stages=1):
    out = torch.empty_like(q)
    grid = (triton.cdiv(LENGTH, 128), q.shape[0])
    kernel[grid](q, k, v, out, LENGTH, WIDTH**-0.5, **SIDES, num_warps=num_warps, num_stages=num_stages)
    return out


def flash(q, k, v, is_causal):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        out = F.scaled_dot_product_attention(*(x.view(BATCHES, HEADS, LENGTH, WIDTH) for x in (q, k, v)), is_causal=is_causal)
    return out.reshape(q.shape)


def exact(q, k, v, is_causal):
    """In float64, a head at a time: the matrix of scores of all heads would be as large as the GPU's memory."""
    heads = ([x.double() for x in head] for head in zip(q, k, v, strict=True))
    return torch.stack([F.scaled_dot_product_attention(*head, is_causal=is_causal) for head in heads])


torch.manual_seed(0)
q, k, v = torch.randn(3, BATCHES * HEADS, LENGTH, WIDTH, device="cuda", dtype=torch.bfloat16)
full = {
    "one_query": lambda: one_query(q, k, v),
    "tiles": lambda: tiled(query_tile_kernel, q, k, v),
    "flash": lambda: flash(q, k, v, False),
}
causal = {
    "tiles_causal": lambda: tiled(causal_attention_kernel, q, k, v),
    "exp2": lambda: staged_attention(q, k, v, 1),
    "stages_2": lambda: staged_attention(q, k, v, 2),
    "stages_3": lambda: staged_attention(q, k, v, 3),
    "descriptors": lambda: described_attention(q, k, v),
    "two_loops": lambda: two_loops(q, k, v, 64, False, 3),
    "one_loop": lambda: specialized_attention(q, k, v, False),
    "flash": lambda: flash(q, k, v, True),
}
if can_specialize():
    causal["specialized"] = lambda: specialized_attention(q, k, v, True)

if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
    watched = causal | {"one_query_head": lambda: one_query(q[:1], k[:1], v[:1])}
    watched["tiles_head"] = lambda: tiled(query_tile_kernel, q[:1], k[:1], v[:1])
    way = watched[sys.argv[1]]
    way()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    way()
    torch.cuda.profiler.stop()
else:
    benchmark, failed = Benchmark(), {}
    for op, ways, is_causal in (("attention_ladder", full, False), ("attention_ladder_causal", causal, True)):
        expected, right = exact(q, k, v, is_causal), {}
        for name, way in ways.items():
            try:
                off = wrong_rows(way(), expected)
                if off:
                    failed[f"{op} {name}"] = f"{off} rows are wrong"
                else:
                    right[name] = way
            except Exception as error:
                failed[f"{op} {name}"] = f"{type(error).__name__}: {error}"[:200]
        shape = f"{BATCHES}x{HEADS}x{LENGTH}x{WIDTH}"
        benchmark.case(op, "fwd", shape, q.dtype, 4 * q.nbytes, None, right, expected)
    print("failed:", failed or "none")
    keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures={"failed": failed})
