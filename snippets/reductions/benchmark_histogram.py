"""Time kernels.histogram on numbers spread evenly and on numbers that all fall into one bin, beside torch.histc."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import Benchmark
from kernels.reductions import histogram
from kernels.reductions.histogram import histogram_bins_kernel


def atomic(x, bins):
    """An atomic addition for every element."""
    counts = torch.zeros(bins, dtype=torch.int64, device="cuda")
    sizes = (x.stride(0), 0.0, 1.0, x.numel(), bins)
    histogram_bins_kernel[(2112,)](x, counts, *sizes, 1, BINS=1, BLOCK=1024, LOCAL=False)
    return counts


benchmark = Benchmark()
spread = torch.rand(2**26, device="cuda")
for bins in (16, 64, 256, 1024, 4096, 65536):
    for op, x in (("histc", spread), ("histc_one_bin", torch.full_like(spread, 0.5))):
        functions = {"blockwise": lambda: histogram(x, bins, 0, 1), "atomic": lambda: atomic(x, bins)}
        expected = torch.bincount((x * bins).long(), minlength=bins)
        if torch.equal(torch.histc(x, bins, 0, 1), expected.float()):  # it counts in floats, and may stop too early
            functions["eager"] = lambda: torch.histc(x, bins, 0, 1)
        benchmark.case(op, "fwd", f"{2**26}x{bins}", x.dtype, x.nbytes, None, functions, expected)
benchmark.finish()
