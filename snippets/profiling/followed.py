"""Follow one slow kernel down the tree: the roofline of both shapes of its block, and what the hardware counts."""
# needs: cuda
# counters: slow mended
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from kernels.tools.roofline.measured import examined
from kernels.tools.roofline.report import report
from snippets.profiling.beside import under_the_profiler
from snippets.profiling.columns import add_columns

x = torch.randn(4096, 32768, device="cuda")
ways = {"slow": lambda: add_columns(x), "mended": lambda: add_columns(x, 64, 32)}
if sys.argv[1:]:
    under_the_profiler(ways[sys.argv[1]])
found = {}
for name, way in ways.items():
    torch.testing.assert_close(way(), x.sum(0), rtol=1e-4, atol=1e-2)
    found[name] = examined(way)
keep(figures={name: each["kernels"][0] | {"text": report(each)} for name, each in found.items()})
print("\n\n".join(report(each) for each in found.values()))
