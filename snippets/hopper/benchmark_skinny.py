"""Time kernels.matmul where a matrix is narrow or the inner dimension long, beside cuBLAS and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark
from kernels.matmul import matmul
from kernels.matmul.narrow import matmul_narrow
from kernels.matmul.plan import matmul_plan

SHAPES = [(m, 8192, 8192) for m in (1, 16, 32, 64, 128)] + [(512, 512, 65536), (256, 256, 65536), (64, 4096, 14336)]
SHAPES += [(128, 128, 65536)]


def last_adds(a, b):
    """The library's product, but the last program of a tile adds up the parts, however many there are."""
    narrow = sys.modules[matmul_narrow.__module__]
    many, narrow.MANY_SUMS = narrow.MANY_SUMS, 2**62
    try:
        return matmul(a, b)
    finally:
        narrow.MANY_SUMS = many


benchmark = Benchmark()
for m, n, k in SHAPES:
    torch.compiler.reset()
    a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
    rows = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
    columns = rows.t().contiguous().t()
    default = torch.compile(torch.matmul, dynamic=False)
    functions = {
        "blockwise_nn": lambda: matmul(a, rows),
        "blockwise_nt": lambda: matmul(a, columns),
        "eager": lambda: a @ rows,
        "eager_nt": lambda: a @ columns,
        "compile": lambda: default(a, rows),
    }
    if k == 65536:
        functions["last_adds"] = lambda: last_adds(a, rows)
    if m in (16, 64, 512):
        searched = torch.compile(torch.matmul, dynamic=False, mode="max-autotune-no-cudagraphs")
        functions["compile_max"] = lambda: searched(a, rows)
    moved = (m * k + k * n + m * n) * 2
    plan = matmul_plan(a, rows)
    route = {"kernel": plan.kernel, **plan.configuration}
    benchmark.case("mm", "fwd", f"{m}x{n}x{k}", a.dtype, moved, 2 * m * n * k, functions, a @ rows, route)
benchmark.finish()
