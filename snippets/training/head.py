"""A language model's head and its loss, with gradients: time and the most memory beyond the inputs, in five ways."""
# needs: cuda
# --8<-- [start:imports]
import importlib.metadata
import sys

import torch
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import alternate, keep, quantiles
from snippets.training.ways import eager, in_float32, liger_or_none

# --8<-- [start:ways]
from kernels.linear_cross_entropy import linear_cross_entropy

tokens, hidden, classes = 8192, 4096, 128256
leaf = {"device": "cuda", "dtype": torch.bfloat16, "requires_grad": True}
x = torch.randn(tokens, hidden, **leaf)
weight = torch.nn.init.normal_(torch.empty(classes, hidden, **leaf), std=0.02)
target = torch.randint(0, classes, (tokens,), device="cuda")

WAYS = {"eager": eager, "eager_fp32": in_float32, "compile": torch.compile(eager), "blockwise": linear_cross_entropy}
if liger := liger_or_none():
    WAYS["liger"] = liger
# --8<-- [end:ways]


# --8<-- [start:measure]
def step(way):
    return torch.autograd.grad(way(x, weight, target), (x, weight))


expected = step(in_float32)
peaks = {}
for name, way in WAYS.items():
    for one, other in zip(step(way), expected, strict=True):  # also compiles
        assert (one.float() - other.float()).norm() < 0.02 * other.float().norm(), name
    del one, other
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step(way)
    peaks[name] = (torch.cuda.max_memory_allocated() - before) / 1e9
times = alternate([lambda way=way: step(way) for way in WAYS.values()], seconds=2.0)
ms = {name: quantiles(found)[1] for name, found in zip(WAYS, times, strict=True)}
for name, peak in peaks.items():
    print(f"{name:12}{peak:6.2f} GB{ms[name]:8.2f} ms")
# --8<-- [end:measure]
versions = {"torch": torch.__version__}
if liger:
    versions["liger"] = importlib.metadata.version("liger-kernel")
keep(figures={"peak_gb": peaks, "ms": ms, "versions": versions, "logits_gb": 2 * tokens * classes / 1e9})
