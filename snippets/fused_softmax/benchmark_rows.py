"""Time softmax over matrices of equal size and ever longer rows: where does one row a program stop being good?"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark
from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_route, softmax_row

try:
    from liger_kernel.transformers.functional import liger_softmax
except ImportError:
    print("liger-kernel is not installed: it is left out")
    liger_softmax = None

benchmark = Benchmark()
elements = 2**26
for k in range(6, 19):
    columns = 2**k
    torch.compiler.reset()
    x = torch.randn(elements // columns, columns, device="cuda").to(torch.bfloat16)
    compiled = torch.compile(lambda x: torch.softmax(x, dim=-1), dynamic=False)
    implementations = {
        "blockwise": lambda: softmax(x),
        "row": lambda: softmax_row(x, torch.empty_like(x)),
        "eager": lambda: torch.softmax(x, dim=-1),
        "compile": lambda: compiled(x),
    }
    if liger_softmax and columns <= 65536:
        implementations["liger"] = lambda: liger_softmax(x)
    shape = f"{elements // columns}x{columns}"
    expected = torch.softmax(x.double(), dim=-1)
    route = {"route": softmax_route(columns, x.dtype, n_rows=elements // columns)}
    benchmark.case("softmax", "fwd", shape, x.dtype, 2 * x.nbytes, 5 * x.numel(), implementations, expected, route)
benchmark.finish()
