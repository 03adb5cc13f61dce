"""One training step of a small Llama: tokens a second and peak memory, eager, compiled, with Liger-Kernel, with the library."""
# needs: cuda
# --8<-- [start:imports]
import gc
import importlib.metadata
import sys
from itertools import pairwise

import torch
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton

from kernels.operators.add_rms_norm import add_rms_norm_in_graph
from kernels.operators.elements import swiglu_in_graph
from kernels.operators.linear_cross_entropy import linear_cross_entropy_in_graph
from kernels.operators.rotary_embedding import rotary_embedding_in_graph
from kernels.tools.benchmark import keep, quantiles
from snippets.training.llama import EPS, OURS, PLAIN, Llama, Parts

try:
    from liger_kernel.ops.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyFunction
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    from liger_kernel.ops.rope import LigerRopeFunction
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction
except ImportError:
    print("liger-kernel is not installed: it is left out")
    LigerRMSNormFunction = None


def graph_add_norm(x, residual, weight):
    return add_rms_norm_in_graph(x, residual, weight, EPS)


def liger_add_norm(x, residual, weight):
    total = x + residual
    return LigerRMSNormFunction.apply(total, weight, EPS, 0.0, "llama", False), total


def liger_rotate(q, k, cos, sin):
    return LigerRopeFunction.apply(q, k, torch.cat((cos, cos), -1)[None], torch.cat((sin, sin), -1)[None])


def liger_gate(gate, up):
    return LigerSiLUMulFunction.apply(gate.contiguous(), up.contiguous())


def liger_loss(x, weight, target):
    out = LigerFusedLinearCrossEntropyFunction.apply(x, weight, target)
    return out[0] if isinstance(out, tuple) else out


GRAPH = Parts(graph_add_norm, rotary_embedding_in_graph, swiglu_in_graph, linear_cross_entropy_in_graph)
WAYS = {"eager": (PLAIN, False), "compile": (PLAIN, True), "blockwise": (OURS, False), "blockwise_compile": (GRAPH, True)}
if LigerRMSNormFunction:
    WAYS["liger"] = (Parts(liger_add_norm, liger_rotate, liger_gate, liger_loss), False)

# --8<-- [start:sizes]
# The sizes of Llama 3.2's model of a billion parameters, with a head of its own.
SIZES = {"classes": 128256, "hidden": 2048, "heads": 32, "kv_heads": 8, "feed": 8192, "layers": 16}
BATCH, LENGTH = 2, 4096
# --8<-- [end:sizes]


# --8<-- [start:measure]
def measured(parts, compiled, steps=10):
    """The first loss, the milliseconds of a step, and the most memory in GB."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Llama(**SIZES).bfloat16()
        tokens = torch.randint(0, SIZES["classes"], (BATCH, LENGTH + 1))
    for parameter in model.parameters():
        if parameter.ndim == 2:
            torch.nn.init.normal_(parameter, std=0.02)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    run = torch.compile(model) if compiled else model

    def step():
        loss = run(tokens[:, :-1], tokens[:, 1:], parts)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    first = step().item()
    for _ in range(3):
        step()
    torch.cuda.reset_peak_memory_stats()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    for event in events[:-1]:
        event.record()
        step()
    events[-1].record()
    torch.cuda.synchronize()
    times = [one.elapsed_time(other) for one, other in pairwise(events)]
    return first, quantiles(times)[1], torch.cuda.max_memory_allocated() / 1e9
# --8<-- [end:measure]


kept = {}
for name, (parts, compiled) in WAYS.items():
    loss, ms, peak = measured(parts, compiled)
    torch.compiler.reset()
    gc.collect()  # a compiled model may be held by a cycle, and its memory would count for the next way
    torch.cuda.empty_cache()
    assert not kept or abs(loss - kept["eager"]["loss"]) < 0.02 * loss, (name, loss)
    kept[name] = {"loss": loss, "ms": ms, "tokens_per_second": BATCH * LENGTH / ms * 1e3, "peak_gb": peak}
    print(f"{name:18}{kept[name]['tokens_per_second']:9,.0f} tokens/s{peak:7.1f} GB   first loss {loss:.2f}")
versions = {"torch": torch.__version__, "triton": triton.__version__}
if LigerRMSNormFunction:
    versions["liger"] = importlib.metadata.version("liger-kernel")
print(", ".join(f"{name} {version}" for name, version in versions.items()))
keep(figures=kept | {"versions": versions})
