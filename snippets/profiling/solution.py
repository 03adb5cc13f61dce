"""The exercise's kernel at its size, 64 rows to a program, and 8."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from kernels.tools.roofline.measured import examined
from kernels.tools.roofline.report import report
from snippets.profiling.exercise import times_vector

a, x = torch.randn(4096, 16384, device="cuda"), torch.randn(16384, device="cuda")
found = {}
for name, block in (("slow", (64, 64)), ("mended", (8, 512))):
    torch.testing.assert_close(times_vector(a, x, *block), a @ x, rtol=1e-3, atol=1e-1)
    found[name] = examined(lambda block=block: times_vector(a, x, *block))
keep(figures={name: each["kernels"][0] for name, each in found.items()})
print("\n\n".join(report(each) for each in found.values()))
