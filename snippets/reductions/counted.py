"""What loses, for the hardware's counters to watch: a histogram of many bins, and sums and a maximum in a graph."""
# needs: cuda
# counters: ours_1k eager_1k ours_4k eager_4k ours_few compile_few ours_col compile_col ours_all compile_all ours_max compile_max
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.reductions import histogram
from kernels.reductions import max
from kernels.reductions import sum

WAYS = {"ours": histogram, "eager": torch.histc}
for case, bins in (("1k", 1024), ("4k", 4096)):
    for name, way in WAYS.items():
        if sys.argv[1:] in ([], [f"{name}_{case}"]):  # the profiler watches one way a run
            x = torch.rand(2**26, device="cuda")
            way(x, bins, 0.0, 1.0)  # compiles
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            way(x, bins, 0.0, 1.0)
            torch.cuda.profiler.stop()
            print(f"{name}: {x.numel():,} numbers into {bins} bins, {x.nbytes:,} bytes at least")


SHAPES = {
    "few": (sum, torch.sum, (torch.rand(16, 2**22, device="cuda").bfloat16(), 1)),
    "col": (sum, torch.sum, (torch.rand(8192, 4096, device="cuda").bfloat16(), 0)),
    "all": (sum, torch.sum, (torch.rand(2**16, device="cuda"),)),
    "max": (max, torch.max, (torch.rand(2**20, device="cuda"),)),
}
for shape, (ours, theirs, given) in SHAPES.items():
    for name, way in {"ours": ours, "compile": torch.compile(theirs, dynamic=False)}.items():
        if sys.argv[1:] in ([], [f"{name}_{shape}"]):
            way(*given)  # compiles
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            way(*given)
            torch.cuda.profiler.stop()
            print(f"{name}, {shape}: {given[0].nbytes:,} bytes at least")
