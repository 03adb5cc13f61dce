"""From five kernels to one: softmax with one program a row, checked anywhere and, on a GPU, timed beside the unfused chain."""
# counters: unfused row
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import Benchmark

# --8<-- [start:imports]
import torch
import triton
import triton.language as tl
# --8<-- [end:imports]

# --8<-- [start:one_row]
from kernels.softmax.softmax import softmax_reference, softmax_row

WAYS = {
    "unfused": softmax_reference,
    "row": lambda x: softmax_row(x, torch.empty_like(x)),
}
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(100, 781, device=device)
for way in WAYS.values():
    torch.testing.assert_close(way(x), torch.softmax(x, dim=-1))
print("both agree with PyTorch")
#> both agree with PyTorch
# --8<-- [end:one_row]

if device == "cuda":
    torch.manual_seed(0)
    x = torch.randn(16384, 4096, device="cuda").bfloat16()
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        WAYS[sys.argv[1]](x)
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        WAYS[sys.argv[1]](x)
        torch.cuda.profiler.stop()
    else:
        benchmark = Benchmark()
        ways = {name: lambda way=way: way(x) for name, way in WAYS.items()}
        ways["eager"] = lambda: torch.softmax(x, dim=-1)
        expected = torch.softmax(x.double(), dim=-1)
        benchmark.case("softmax_ladder", "fwd", "16384x4096", x.dtype, 2 * x.nbytes, 5 * x.numel(), ways, expected)
        benchmark.finish()
