"""Time kernels.add beside PyTorch's own addition, from vectors that fit into a cache to ones that fill the memory."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.add import add
from kernels.tools.benchmark import Benchmark

benchmark = Benchmark()
cases = [(2**k, torch.float32) for k in range(14, 29, 2)]
cases += [(98432, torch.float32), (2**28, torch.bfloat16)]
for n, dtype in cases:
    x = torch.randn(n, device="cuda").to(dtype)
    y = torch.randn(n, device="cuda").to(dtype)
    compiled = torch.compile(lambda x, y: x + y, dynamic=False)
    benchmark.case(
        "add", "fwd", str(n), dtype, moved=3 * x.nbytes, flops=n,
        implementations={
            "blockwise": lambda: add(x, y),
            "eager": lambda: torch.add(x, y),
            "compile": lambda: compiled(x, y),
        },
        expected=x.double() + y.double(),
    )
    torch.compiler.reset()
benchmark.finish()
