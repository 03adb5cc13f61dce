"""A softmax whose rows do not fit into the registers of four warps, and do into those of sixteen."""
# needs: cuda
# counters: slow mended
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.profiling.beside import beside

# --8<-- [start:ways]
from kernels.softmax.softmax import softmax_kernel

x = torch.randn(2048, 2**15, device="cuda")
y = torch.empty_like(x)


def softened(num_warps):
    columns = x.shape[1]
    return softmax_kernel[(len(x),)](x, y, columns, columns, columns, BLOCK=columns, num_warps=num_warps)


ways = {"slow": lambda: (softened(4), y)[1], "mended": lambda: (softened(16), y)[1]}
# --8<-- [end:ways]
found = beside(ways, torch.softmax(x, dim=-1), 2 * x.nbytes)
for name, num_warps in (("slow", 4), ("mended", 16)):
    compiled = softened(num_warps)
    found[name] |= {"registers": compiled.n_regs, "spilled": 4 * compiled.n_spills}
    print(f"{name:12}{num_warps:3} warps: {compiled.n_regs:4} registers, {4 * compiled.n_spills:5} bytes spilled a thread")
keep(figures=found)
