"""The capstone's two products and its softmax, for the hardware's counters to watch: what the filled log is made of.

With a name it runs one alone: naive, tiled, unfused or fused. It tells the profiler when to begin, after a first call.
"""
# needs: cuda
# counters: naive tiled unfused fused
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from snippets.capstone.matmul_naive import naive_product
from snippets.capstone.matmul_tiled import tiled_product
from snippets.capstone.softmax import softmax


def unfused(x):
    e = torch.exp(x - x.amax(dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)


a, b = torch.randn(2, 2048, 2048, device="cuda")
x = torch.randn(16384, 4096, device="cuda").bfloat16()
WAYS = {"naive": (naive_product, a, b), "tiled": (tiled_product, a, b), "unfused": (unfused, x), "fused": (softmax, x)}
for name, (way, *given) in WAYS.items():
    if sys.argv[1:] in ([], [name]):  # the profiler watches one way a run
        with torch.no_grad():
            way(*given)  # builds, and tunes
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            found = way(*given)
            torch.cuda.profiler.stop()
        print(f"{name}: {tuple(found.shape)} of {found.dtype}")
