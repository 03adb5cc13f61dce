"""Time kernels.scaled_matmul beside PyTorch's scaled product of 8-bit floats, with both of its accumulations."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)
if torch.cuda.get_device_capability() < (8, 9):
    print("needs: sm_89 (a GPU with 8-bit floats)")
    sys.exit(2)

from kernels.benchmark import Benchmark
from kernels.matmul_plan import matmul_plan
from kernels.scaled_matmul import scaled_matmul, scaled_matmul_reference

SHAPES = [(n, n, n) for n in (1024, 2048, 4096, 8192)] + [(m, 8192, 8192) for m in (16, 64, 128)]

benchmark = Benchmark()
for m, n, k in SHAPES:
    a = torch.randn(m, k, device="cuda").to(torch.float8_e4m3fn)
    b = torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn).t()
    one = torch.tensor(0.5, device="cuda"), torch.tensor(2.0, device="cuda")
    each = torch.rand(m, 1, device="cuda") + 0.5, torch.rand(1, n, device="cuda") + 0.5
    moved = m * k + k * n + 2 * m * n
    plan = matmul_plan(a, b)
    route = {"kernel": plan.kernel, **plan.configuration}
    for name, (scale_a, scale_b) in (("tensor", one), ("row", each)):
        functions = {f"blockwise_{name}": lambda: scaled_matmul(a, b, scale_a, scale_b)}
        for speed, fast in (("fast", True), ("slow", False)):
            functions[f"scaled_mm_{name}_{speed}"] = lambda fast=fast: torch._scaled_mm(
                a, b, scale_a, scale_b, out_dtype=torch.bfloat16, use_fast_accum=fast
            )
        expected = scaled_matmul_reference(a, b, scale_a, scale_b)
        benchmark.case("scaled_mm", "fwd", f"{m}x{n}x{k}", a.dtype, moved, 2 * m * n * k, functions, expected, route)
benchmark.finish()
