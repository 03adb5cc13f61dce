"""How many times as fast is a fused softmax as the chain of five operations? It depends on how long the rows are."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark

# --8<-- [start:lengths]
import torch

from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_reference

WAYS = {"unfused": softmax_reference, "blockwise": softmax, "eager": lambda x: torch.softmax(x, dim=-1)}
SHAPES = [(4096, columns) for columns in (256, 1024, 4096, 16384, 65536)]
# --8<-- [end:lengths]

torch.manual_seed(0)
benchmark = Benchmark()
for rows, columns in SHAPES:
    x = torch.randn(rows, columns, device="cuda")
    ways = {name: lambda way=way: way(x) for name, way in WAYS.items()}
    expected = torch.softmax(x.double(), dim=-1)
    benchmark.case("softmax_ladder", "fwd", f"{rows}x{columns}", x.dtype, 2 * x.nbytes, 5 * x.numel(), ways, expected)
benchmark.finish()
