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

from kernels.tools.benchmark import Benchmark
from kernels.matmul.plan import matmul_plan
from kernels.matmul import scaled_matmul
from kernels.matmul.scaled_matmul import scaled_matmul_reference

SHAPES = [(n, n, n) for n in (1024, 2048, 4096, 8192)] + [(m, 8192, 8192) for m in (16, 64, 128)]

benchmark = Benchmark()
for m, n, k in SHAPES:
    a = torch.randn(m, k, device="cuda").to(torch.float8_e4m3fn)
    b = torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn).t()
    one = torch.tensor(0.5, device="cuda"), torch.tensor(2.0, device="cuda")
    # One for each row and column, of the same value: then all six have one result, and take turns at one clock.
    each = torch.full((m, 1), 0.5, device="cuda"), torch.full((1, n), 2.0, device="cuda")
    moved = m * k + k * n + 2 * m * n
    plan = matmul_plan(a, b)
    route = {"kernel": plan.kernel, **plan.configuration}
    functions = {}
    for name, (scale_a, scale_b) in (("tensor", one), ("row", each)):
        functions[f"blockwise_{name}"] = lambda s=scale_a, t=scale_b: scaled_matmul(a, b, s, t)
        for speed, fast in (("fast", True), ("slow", False)):
            functions[f"scaled_mm_{name}_{speed}"] = lambda fast=fast, s=scale_a, t=scale_b: torch._scaled_mm(
                a, b, s, t, out_dtype=torch.bfloat16, use_fast_accum=fast
            )
    expected = scaled_matmul_reference(a, b, *one)
    benchmark.case("scaled_mm", "fwd", f"{m}x{n}x{k}", a.dtype, moved, 2 * m * n * k, functions, expected, route)
benchmark.finish()
