"""The exercise's solution: predict three times from bytes, measure them, and close the largest gap with a kernel."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

import triton
import triton.language as tl

from kernels.tools.benchmark import Benchmark


# --8<-- [start:kernel]
@triton.jit
def widen_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets).to(tl.float32))
# --8<-- [end:kernel]


n = 2**28
x = torch.randn(n, device="cuda", dtype=torch.bfloat16)


def widened():
    out = torch.empty(n, device="cuda")
    widen_kernel[(n // 1024,)](x, out, BLOCK=1024)
    return out


cases = {  # the bytes of one element, read and written
    "memory_relu": (2 + 2, {"eager": lambda: torch.relu(x)}, x.clamp(min=0)),
    "memory_amax": (2 + 0, {"eager": lambda: x.amax()}, x.max()),
    "memory_widen": (2 + 4, {"eager": lambda: x.float(), "blockwise": widened}, x),
}
benchmark = Benchmark()
copy = benchmark.rate(benchmark.ceilings["copy"], "bytes")
for name, (size, implementations, expected) in cases.items():
    print(f"{name:12} predicted {n * size / copy * 1e6:7.1f} us")
    benchmark.case(name, "fwd", str(n), x.dtype, n * size, None, implementations, expected)
benchmark.finish()
