"""The most memory that a loss and its gradient take beyond the logits, measured by PyTorch's allocator."""
# needs: cuda
# --8<-- [start:imports]
import sys

import torch
import torch.nn.functional as F
# --8<-- [end:imports]

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep

# --8<-- [start:memory]
from kernels.cross_entropy import cross_entropy

ways = {
    "PyTorch": F.cross_entropy,
    "PyTorch in float32": lambda x, t: F.cross_entropy(x.float(), t),
    "Blockwise": cross_entropy,
}
logits = torch.randn(8192, 128256, device="cuda", dtype=torch.bfloat16)
logits.requires_grad_()
target = torch.randint(0, 128256, (8192,), device="cuda")
peaks = {}
for name, way in ways.items():
    torch.autograd.grad(way(logits[:8], target[:8]), logits)  # compiles
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    torch.autograd.grad(way(logits, target), logits)
    peaks[name] = torch.cuda.max_memory_allocated() - before
    print(f"{name:18} {peaks[name] / logits.nbytes:.2f} times the logits")
# --8<-- [end:memory]
names = {"PyTorch": "eager", "PyTorch in float32": "eager_fp32", "Blockwise": "blockwise"}
times = {names[name]: round(peak / logits.nbytes, 2) for name, peak in peaks.items()}
keep(figures=times)
