"""The exercise's solution: predict three times from bytes, then measure them."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.benchmark import Benchmark

n = 2**28
x = torch.randn(n, device="cuda", dtype=torch.bfloat16)
cases = {  # the bytes of one element, read and written
    "memory_relu": (2 + 2, lambda: torch.relu(x), x.clamp(min=0)),
    "memory_widen": (2 + 4, lambda: x.float(), x),
    "memory_amax": (2 + 0, lambda: x.amax(), x.max()),
}
benchmark = Benchmark()
copy = benchmark.rate(benchmark.ceilings["copy"], "bytes")
for name, (size, run, expected) in cases.items():
    print(f"{name:12} predicted {n * size / copy * 1e6:7.1f} us")
    benchmark.case(name, "fwd", str(n), x.dtype, n * size, None, {"eager": run}, expected)
benchmark.finish()
