"""Few and very long rows: each row split over many programs, in two launches."""
# counters: long split
import os
import sys

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.tools.benchmark import Benchmark
from kernels.softmax.long import softmax_long

# --8<-- [start:check]
from kernels.softmax.split import softmax_split

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(2, 30_000, device=device)
y = softmax_split(x, torch.empty_like(x))
torch.testing.assert_close(y, torch.softmax(x, dim=-1))
print("the parts agree with PyTorch")
#> the parts agree with PyTorch
# --8<-- [end:check]

if device == "cuda":
    torch.manual_seed(0)
    x = torch.randn(32, 262144, device="cuda").bfloat16()
    ways = {
        "long": lambda: softmax_long(x, torch.empty_like(x)),
        "split": lambda: softmax_split(x, torch.empty_like(x)),
    }
    if sys.argv[1:]:  # the profiler watches one way a run, after a call that compiles
        ways[sys.argv[1]]()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        ways[sys.argv[1]]()
        torch.cuda.profiler.stop()
    else:
        benchmark = Benchmark()
        ways["eager"] = lambda: torch.softmax(x, dim=-1)
        expected = torch.softmax(x.double(), dim=-1)
        benchmark.case("softmax_ladder", "fwd", "32x262144", x.dtype, 2 * x.nbytes, 5 * x.numel(), ways, expected)
        benchmark.finish()
