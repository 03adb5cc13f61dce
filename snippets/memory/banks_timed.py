"""Time and count a transpose through shared memory, with rows that exchange their words and without."""
# needs: cuda
# counters: exchanged_1 exchanged_2 exchanged_4 exchanged_8 exchanged_16 exchanged_32
# counters-also: everything
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep
from snippets.memory.banks import transposed, turns
from snippets.profiling.beside import beside

rows = 8192
x = torch.randn(rows, rows, device="cuda")
exchanges = (1, 2, 4, 8, 16, 32)
ways = {f"exchanged_{n}": lambda n=n: transposed(x, n) for n in exchanges}
found = beside(ways, x.mT, 2 * x.nbytes)
for n in exchanges:
    found[f"exchanged_{n}"]["turns"] = turns(n)
keep(figures={"rows": rows, "loads": rows * rows // 32, "ways": found})
