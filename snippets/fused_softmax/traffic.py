"""Softmax of one large matrix in three ways, for the hardware's counters to watch."""
# needs: cuda
# counters: unfused eager blockwise
# --8<-- [start:imports]
import sys

import torch
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
# --8<-- [start:traffic]
from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_reference

WAYS = {
    "unfused": softmax_reference,
    "eager": lambda x: torch.softmax(x, dim=-1),
    "blockwise": softmax,
}
x = torch.randn(30000, 16384, device="cuda")
for name, way in WAYS.items():
    if sys.argv[1:] in ([], [name]):  # the profiler watches one way a run
        way(x[:1])  # compiles the kernel; only the next call is watched
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        y = way(x)
        torch.cuda.profiler.stop()
        torch.testing.assert_close(y[:64], torch.softmax(x[:64], dim=-1))
        del y
# --8<-- [end:traffic]
print(f"the matrix: {x.nbytes:,} bytes")
keep(extra={"matrix_bytes": x.nbytes})
