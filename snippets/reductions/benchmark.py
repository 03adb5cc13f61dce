"""Time kernels.sum over everything, along rows and along columns, beside PyTorch and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark
from kernels.reductions import sum

FP32, BF16 = torch.float32, torch.bfloat16
CASES = [(None, (n,), FP32) for n in (2**16, 2**20, 2**24, 2**24 + 1, 2**28, 2**30)]
CASES += [(None, (2**28,), BF16)]
CASES += [(-1, shape, BF16) for shape in ((8192, 4096), (1024, 262144), (16, 4194304))]
CASES += [(0, shape, BF16) for shape in ((8192, 4096), (262144, 1024))]
# Awkward ones: short rows, odd rows, narrow columns, odd columns.
CASES += [(-1, (524288, 64), BF16), (-1, (65536, 781), FP32)]
CASES += [(0, (4194304, 16), BF16), (0, (65536, 781), FP32)]
benchmark = Benchmark()
for dim, shape, dtype in CASES:
    torch.compiler.reset()
    x = torch.rand(shape, device="cuda").to(dtype)

    def plain(x, dim=dim):
        return x.sum(dim)

    functions = {"blockwise": lambda: sum(x, dim), "eager": lambda: plain(x)}
    if x.numel() < 2**30:
        compiled = torch.compile(plain, dynamic=False)
        functions["compile"] = lambda: compiled(x)
    if shape == (2**28,) and dtype == FP32:
        tuned = torch.compile(plain, dynamic=False, mode="max-autotune-no-cudagraphs")
        functions["compile_max"] = lambda: tuned(x)
    # In float64, and in pieces where everything is summed, for the sake of memory.
    parts = [x.double().sum(dim)] if dim is not None else [part.double().sum() for part in x.split(2**28)]
    expected = torch.stack(parts).sum(0)
    op = "sum" if dim is None else f"sum_dim{dim}"
    size = "x".join(map(str, shape))
    benchmark.case(op, "fwd", size, dtype, x.nbytes, x.numel(), functions, expected)
benchmark.finish()
