"""Dropout forward and backward in two ways, for the hardware's counters to watch."""
# needs: cuda
# counters: eager blockwise
# --8<-- [start:imports]
import sys

import torch
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
# --8<-- [start:traffic]
import torch.nn.functional as F

from kernels.dropout import dropout

WAYS = {
    "eager": lambda x: F.dropout(x, 0.1),
    "blockwise": lambda x: dropout(x, 0.1, seed=7),
}
x = torch.randn(2**28, device="cuda", dtype=torch.bfloat16, requires_grad=True)
dy = torch.randn_like(x)
for name, way in WAYS.items():
    if sys.argv[1:] in ([], [name]):  # the profiler watches one way a run
        torch.autograd.grad(way(x), x, dy)  # compiles the kernel; only the next call is watched
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        y = way(x)
        (dx,) = torch.autograd.grad(y, x, dy)
        torch.cuda.profiler.stop()
        compared = (x != 0) & (dy != 0)
        assert torch.equal((dx == 0) & compared, (y == 0) & compared)
        del y, dx, compared
# --8<-- [end:traffic]
print(f"the tensor: {x.nbytes:,} bytes")
keep(extra={"tensor_bytes": x.nbytes})
