"""A mean, a median and quantiles of the same calls, of which every twentieth is made late on purpose."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep

# --8<-- [start:averages]
from triton.testing import do_bench

x = torch.randn(2**24, device="cuda")
calls = 0


def sometimes_late():
    global calls
    calls += 1
    if calls % 20 == 0:
        torch.cuda._sleep(2_000_000)  # somebody else has the GPU for a moment
    return x * 2


times = {mode: do_bench(sometimes_late, return_mode=mode) for mode in ("mean", "median", "min", "max")}
for mode, ms in times.items():
    print(f"{mode:8}{ms * 1e3:9.1f} us")
print("quantiles:", ", ".join(f"{ms * 1e3:.1f} us" for ms in do_bench(sometimes_late, quantiles=[0.2, 0.5, 0.8])))
# --8<-- [end:averages]
default = do_bench(sometimes_late)
print("do_bench returns by default what is nearer to the", min(("mean", "median"), key=lambda mode: abs(times[mode] - default)))
keep(figures={mode: ms * 1e3 for mode, ms in times.items()})
