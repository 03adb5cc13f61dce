"""Time kernels.moe beside PyTorch's grouped products, compiled and not, and the loop, at sizes that a lot draws at every run.

A third of the cases has sizes of published models; the others are drawn. So is how unevenly experts are chosen.
"""
# needs: cuda
import math
import random
import sys
import time

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from torch.nn.functional import silu

from kernels.moe.moe import moe, moe_reference
from kernels.tools.benchmark import Benchmark, alternate, capture, keep, quantiles
from snippets.cuda.compare import sound

GROUPED = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
# Experts, k, width, hidden.
MODELS = [(8, 2, 4096, 14336), (128, 8, 2048, 768), (64, 6, 2048, 1408), (256, 8, 7168, 2048), (16, 2, 4096, 6400)]
CASES, SECONDS, MOST_BYTES, MOST_FLOPS = 18, 240, 24e9, 6e13


def by_grouped(x, logits, w_gate_up, w_down, k):
    """Routing, a sort, a copy of the rows, two grouped products, and the sum, each an operation of PyTorch."""
    chosen, experts = logits.topk(k, dim=1)
    weights = torch.softmax(chosen.float(), dim=1)
    order = experts.flatten().argsort(stable=True)
    counts = torch.zeros(logits.shape[1], dtype=torch.int32, device=x.device)
    counts.scatter_add_(0, experts.flatten(), torch.ones_like(experts.flatten(), dtype=torch.int32))
    ends = counts.cumsum(0, dtype=torch.int32)
    gate, up = GROUPED(x[order // k], w_gate_up.mT, offs=ends).chunk(2, dim=1)
    parts = GROUPED(silu(gate) * up, w_down.mT, offs=ends)
    back = torch.empty_like(order).scatter_(0, order, torch.arange(order.numel(), device=x.device))
    return (parts[back].view(x.shape[0], k, -1) * weights[..., None]).sum(1).to(x.dtype)


def exact(x, logits, w_gate_up, w_down, k):
    """The loop in float32, one expert's weights at a time, so that they fit."""
    shares, experts = torch.softmax(logits.float(), 1).topk(k, dim=1)
    shares, y = shares / shares.sum(1, keepdim=True), torch.zeros_like(x, dtype=torch.float32)
    for expert in range(logits.shape[1]):
        tokens, slots = torch.where(experts == expert)
        gate, up = (x[tokens].float() @ w_gate_up[expert].float().mT).chunk(2, dim=1)
        part = (silu(gate) * up) @ w_down[expert].float().mT
        y.index_add_(0, tokens, part * shares[tokens, slots, None])
    return y


def drawn_case(lot):
    """Experts, k, width, hidden, tokens, and how far the experts' mean logits lie apart."""
    def between(low, high, step=1):
        return max(low, round(math.exp(lot.uniform(math.log(low), math.log(high))) / step) * step)

    while True:
        experts, k, width, hidden = lot.choice(MODELS)
        if lot.random() > 1 / 3:
            experts, k = between(8, 256), lot.randint(1, 8)
            width, hidden = between(1024, 8192, 128), between(512, 16384, 128)
        tokens, apart = between(1, 32768), lot.choice([0.0, 1.0, 2.0])
        if 6 * experts * width * hidden < MOST_BYTES and 6 * tokens * k * width * hidden < MOST_FLOPS:
            return experts, k, width, hidden, tokens, apart


def timed(experts, k, width, hidden, tokens, apart):
    torch.compiler.reset()
    x = torch.randn(tokens, width, device="cuda").bfloat16()
    logits = torch.randn(tokens, experts, device="cuda") + apart * torch.randn(experts, device="cuda")
    w_gate_up = torch.empty(experts, 2 * hidden, width, dtype=torch.bfloat16, device="cuda").normal_(std=width**-0.5)
    w_down = torch.empty(experts, width, hidden, dtype=torch.bfloat16, device="cuda").normal_(std=hidden**-0.5)
    gate, up = w_gate_up.chunk(2, dim=1)
    sizes = torch.bincount(logits.topk(k, dim=1).indices.flatten(), minlength=experts)
    grouped_compiled = torch.compile(by_grouped, dynamic=False)

    def loop():
        if torch.cuda.is_current_stream_capturing():  # what waits for the GPU there spoils the allocator for all that follows
            raise RuntimeError("the loop asks the GPU for numbers")
        return moe_reference(x, logits, gate, up, w_down, k)

    ways = {
        "blockwise": lambda: moe(x, logits, gate, up, w_down, k),
        "grouped": lambda: by_grouped(x, logits, w_gate_up, w_down, k),
        "compile": lambda: grouped_compiled(x, logits, w_gate_up, w_down, k),
        "eager": loop,
    }
    wanted, active = exact(x, logits, w_gate_up, w_down, k), int((sizes > 0).sum())
    shape = f"{tokens}x{active}x{experts}x{k}x{width}x{hidden}"
    ways, failed = sound(ways, wanted, x.dtype)
    figures["failed"] |= {f"{shape} {way}": why for way, why in failed.items()}
    figures["apart"][shape], figures["largest"][shape] = apart, int(sizes.max())
    moved = 2 * (2 * tokens * width + 3 * active * width * hidden)
    before = len(benchmark.measurements)
    benchmark.case("moe", "fwd", shape, x.dtype, moved, 6 * tokens * k * width * hidden, ways, wanted)
    calls = {row["implementation"]: row for row in benchmark.measurements[before:]}
    if all(row["timing"] == "call" for row in calls.values()):  # there are many launches, so also a long call may be the host's
        replays = {name: replay for name, way in ways.items() if (replay := capture(way))}
        for name, times in zip(replays, alternate(list(replays.values())), strict=True):
            benchmark.measurements.append(calls[name] | {"timing": "graph", "ms": quantiles(times)})


seed = random.SystemRandom().randrange(2**31)
lot, benchmark, figures = random.Random(seed), Benchmark(), {"seed": seed, "failed": {}, "apart": {}, "largest": {}}
print("seed:", seed)
began = time.monotonic()
for _ in range(CASES):
    if time.monotonic() - began < SECONDS:
        timed(*drawn_case(lot))
keep(ceilings=benchmark.ceilings, measurements=benchmark.measurements, figures=figures)
