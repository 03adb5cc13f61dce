"""The most memory of a head and its loss, with gradients, over tokens and classes: in five ways, beyond what is given."""
# needs: cuda
# --8<-- [start:imports]
import importlib.metadata
import sys

import torch
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.training.ways import eager, in_float32, liger_or_none

# --8<-- [start:measure]
from kernels.linear_cross_entropy import linear_cross_entropy

HIDDEN, TOKENS, CLASSES = 2048, (2048, 4096, 8192, 16384), (32000, 128256, 262144)
WAYS = {"eager": eager, "eager_fp32": in_float32, "compile": torch.compile(eager, dynamic=False)}
WAYS["blockwise"] = linear_cross_entropy
if liger := liger_or_none():
    WAYS["liger"] = liger


def peak_gb(way, tokens, classes):
    """The most memory beyond x, weight and target, and None where the GPU has not as much."""
    leaf = {"device": "cuda", "dtype": torch.bfloat16, "requires_grad": True}
    x = torch.randn(tokens, HIDDEN, **leaf)
    weight = torch.nn.init.normal_(torch.empty(classes, HIDDEN, **leaf), std=0.02)
    target = torch.randint(0, classes, (tokens,), device="cuda")
    try:
        for _ in range(2):  # the first time also compiles
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            torch.autograd.grad(way(x, weight, target), (x, weight))
    except torch.OutOfMemoryError:
        return None
    return (torch.cuda.max_memory_allocated() - before) / 1e9


rows = []
for classes in CLASSES:
    for tokens in TOKENS:
        torch.compiler.reset()  # which would give up compiling after some shapes
        torch.cuda.empty_cache()
        peaks = {name: peak_gb(way, tokens, classes) for name, way in WAYS.items()}
        rows += [{"tokens": tokens, "classes": classes, "way": name, "gb": gb} for name, gb in peaks.items()]
        words = (f"{name} {'none' if gb is None else f'{gb:.2f}'}" for name, gb in peaks.items())
        print(f"{tokens:6} tokens, {classes:6} classes, GB: {', '.join(words)}")
# --8<-- [end:measure]
versions = {"torch": torch.__version__}
if liger:
    versions["liger"] = importlib.metadata.version("liger-kernel")
keep(figures={"hidden": HIDDEN, "rows": rows, "versions": versions})
