"""Time kernels.max over everything, and with indices along rows and columns, beside PyTorch and torch.compile.

The harness needs Python's own `max`, so this calls what `kernels.max` calls once its arguments are checked.
"""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark
from kernels.reductions.max import max_forward

BF16 = torch.bfloat16
CASES = [(None, (n,), torch.float32) for n in (2**20, 2**28)]
CASES += [(dim, (8192, 4096), BF16) for dim in (1, 0)]
CASES += [(1, (1024, 262144), BF16), (0, (262144, 1024), BF16)]
benchmark = Benchmark()
for dim, shape, dtype in CASES:
    torch.compiler.reset()
    x = torch.randn(shape, device="cuda").to(dtype)

    def plain(x, dim=dim):
        return x.max() if dim is None else x.max(dim)

    compiled = torch.compile(plain, dynamic=False)
    functions = {"blockwise": lambda: max_forward(x, dim), "eager": lambda: plain(x), "compile": lambda: compiled(x)}
    expected = plain(x)
    if dim is None:
        functions["blockwise"] = lambda: max_forward(x, None)[0]
    else:
        expected, _ = expected
        for function in functions.values():
            values, indices = function()
            assert torch.equal(x.gather(dim, indices.unsqueeze(dim)).squeeze(dim), expected)
        functions = {name: lambda f=f: f()[0] for name, f in functions.items()}
    op = "max" if dim is None else "max_dim0" if dim == 0 else "max_dim-1"
    size = "x".join(map(str, shape))
    benchmark.case(op, "fwd", size, dtype, x.nbytes, x.numel(), functions, expected)
benchmark.finish()
