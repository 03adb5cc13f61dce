"""What the first call of a compiled function costs, in each mode, and what the later ones cost the host."""
# needs: cuda
import sys
import time

import torch
from torch._inductor import config
import torch.nn.functional as F

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.inductor.captured import queued_us


# --8<-- [start:cost]
def block(x, weight, bias):
    return F.gelu(F.linear(F.layer_norm(x, x.shape[-1:]), weight, bias), approximate="tanh")


x, weight = torch.randn(2, 512, 512, device="cuda").bfloat16().unbind()
bias = torch.randn(512, device="cuda").bfloat16()
modes = ["default", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune"]
kept = {}
config.force_disable_caches = True  # nothing from an earlier run helps
with torch.no_grad():
    kept["eager"] = {"us": queued_us(lambda: block(x, weight, bias))[0]}
    torch.compile(lambda x: x + 1)(x)  # what compiling anything at all costs for the first time
    for mode in modes:
        torch.compiler.reset()
        compiled = torch.compile(block, dynamic=False, mode=mode)
        start = time.perf_counter()
        compiled(x, weight, bias)
        torch.cuda.synchronize()
        first = time.perf_counter() - start
        for _ in range(3):  # graphs are recorded by a later call than the first
            compiled(x, weight, bias)
        kept[mode] = {"seconds": first, "us": queued_us(lambda: compiled(x, weight, bias))[0]}
# --8<-- [end:cost]
for name, found in kept.items():
    first = f"{found['seconds']:6.1f} s for the first call" if "seconds" in found else " " * 27
    print(f"{name:27}{first}, {found['us']:6.1f} us for a later one")
keep(figures=kept)
