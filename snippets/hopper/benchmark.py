"""Time kernels.matmul on square and rectangular matrices, in two layouts, beside cuBLAS and torch.compile."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark
from kernels.matmul import matmul
from kernels.matmul.plan import matmul_plan

SQUARES = [(n, n, n) for n in (512, 1024, 2048, 3072, 4096, 6144, 8192)]
# The linear layers of models of 8 and of 70 billion parameters, and a product with few terms.
LAYERS = [(8192, 4096, 4096), (8192, 14336, 4096), (8192, 4096, 14336), (8192, 8192, 8192), (8192, 28672, 8192)]
LAYERS += [(8192, 8192, 28672), (8192, 128256, 4096), (8192, 8192, 512)]
CASES = [(torch.bfloat16, shape) for shape in dict.fromkeys(SQUARES + LAYERS)]
CASES += [(torch.float16, shape) for shape in SQUARES]
SEARCHED = [(4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 512)]


benchmark = Benchmark()
for dtype, (m, n, k) in CASES:
    torch.compiler.reset()
    a = torch.randn(m, k, device="cuda", dtype=dtype)
    rows = torch.randn(k, n, device="cuda", dtype=dtype)
    columns = rows.t().contiguous().t()
    functions = {
        "blockwise_nn": lambda: matmul(a, rows),
        "blockwise_nt": lambda: matmul(a, columns),
        "eager": lambda: a @ rows,
        "eager_nt": lambda: a @ columns,
    }
    if dtype == torch.bfloat16 and (m, n, k) in SEARCHED:
        default = torch.compile(torch.matmul, dynamic=False)
        searched = torch.compile(torch.matmul, dynamic=False, mode="max-autotune-no-cudagraphs")
        functions |= {"compile": lambda: default(a, rows), "compile_max": lambda: searched(a, rows)}
    moved = (m * k + k * n + m * n) * a.element_size()
    plan = matmul_plan(a, rows)
    route = {"kernel": plan.kernel, **plan.configuration}
    benchmark.case("mm", "fwd", f"{m}x{n}x{k}", dtype, moved, 2 * m * n * k, functions, a @ rows, route)
benchmark.finish()
