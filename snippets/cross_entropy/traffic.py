"""A loss and its gradient in two ways, for the hardware's counters to watch."""
# needs: cuda
# counters: eager blockwise
# --8<-- [start:imports]
import sys

import torch
import torch.nn.functional as F
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep

# --8<-- [start:traffic]
from kernels.cross_entropy import cross_entropy

WAYS = {"eager": F.cross_entropy, "blockwise": cross_entropy}
logits = torch.randn(8192, 128256, device="cuda", dtype=torch.bfloat16)
logits.requires_grad_()
target = torch.randint(0, 128256, (8192,), device="cuda")
for name, way in WAYS.items():
    if sys.argv[1:] in ([], [name]):  # the profiler watches one way a run
        torch.autograd.grad(way(logits[:8], target[:8]), logits)  # compiles
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        torch.autograd.grad(way(logits, target), logits)
        torch.cuda.profiler.stop()
# --8<-- [end:traffic]
print(f"the logits: {logits.nbytes:,} bytes")
keep(extra={"matrix_bytes": logits.nbytes})
