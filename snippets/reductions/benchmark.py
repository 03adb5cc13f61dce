"""Time kernels.sum and kernels.max, over everything, along rows and along columns, beside PyTorch and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.benchmark import Benchmark
from kernels.max import max as largest
from kernels.sum import sum as total

FP32, BF16 = torch.float32, torch.bfloat16
CASES = {
    "sum": [(2**16, FP32), (2**20, FP32), (2**24, FP32), (2**28, FP32), (2**28, BF16), (2**30, FP32), (2**24 + 1, FP32)],
    "sum_dim-1": [((8192, 4096), BF16), ((1024, 262144), BF16), ((16, 4194304), BF16), ((524288, 64), BF16)],
    "sum_dim0": [((8192, 4096), BF16), ((262144, 1024), BF16), ((4194304, 16), BF16)],
    "max": [(2**20, FP32), (2**28, FP32)],
    "max_dim-1": [((8192, 4096), BF16), ((1024, 262144), BF16)],
    "max_dim0": [((8192, 4096), BF16), ((262144, 1024), BF16)],
}
for op in ("sum_dim-1", "sum_dim0"):
    CASES[op].append(((65536, 781), FP32))
benchmark = Benchmark()
for op, cases in CASES.items():
    name, _, dim = op.partition("_dim")
    dims = (int(dim),) if dim else ()
    plain = {"sum": torch.sum, "max": torch.max}[name]
    ours = {"sum": total, "max": largest}[name]
    first = (lambda f, *given: f(*given)[0]) if op.startswith("max_") else (lambda f, *given: f(*given))
    for shape, dtype in cases:
        torch.compiler.reset()
        x = torch.randn(shape, device="cuda").to(dtype)
        functions = {"blockwise": ours, "eager": plain}
        if x.numel() < 2**30:
            functions["compile"] = torch.compile(lambda x, f=plain: f(x, *dims), dynamic=False)
        if x.numel() == 2**28:
            functions["compile_max"] = torch.compile(
                lambda x, f=plain: f(x, *dims), dynamic=False, mode="max-autotune-no-cudagraphs"
            )
        if op.startswith("max_"):
            values, indices = ours(x, *dims)
            assert torch.equal(x.gather(dims[0], indices.unsqueeze(dims[0])).squeeze(dims[0]), values)
        wide = x if name == "max" else x.double() if x.numel() < 2**30 else x.view(2**10, -1).sum(1).double()
        expected = first(plain, wide, *dims)
        calls = {
            key: lambda f=f, key=key: first(f, x, *(() if key.startswith("compile") else dims))
            for key, f in functions.items()
        }
        size = "x".join(map(str, x.shape))
        benchmark.case(op, "fwd", size, dtype, x.nbytes, x.numel(), calls, expected)
        del wide
benchmark.finish()
