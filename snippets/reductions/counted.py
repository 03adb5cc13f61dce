"""A histogram of many bins, ours and PyTorch's, for the hardware's counters to watch."""
# needs: cuda
# counters: blockwise_1024 eager_1024 blockwise_4096 eager_4096
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.histogram import histogram

# --8<-- [start:counted]
WAYS = {"blockwise": histogram, "eager": torch.histc}
for bins in (1024, 4096):
    for name, way in WAYS.items():
        if sys.argv[1:] in ([], [f"{name}_{bins}"]):  # the profiler watches one way a run
            x = torch.rand(2**26, device="cuda")
            way(x, bins, 0.0, 1.0)  # compiles
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            way(x, bins, 0.0, 1.0)
            torch.cuda.profiler.stop()
            print(f"{name}: {x.numel():,} numbers into {bins} bins, {x.nbytes:,} bytes at least")
# --8<-- [end:counted]
