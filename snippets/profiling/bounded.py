"""The roofline of a kernel at its limit, of one that is far from it, and of a product."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep

# --8<-- [start:examined]
from kernels.add import add
from kernels.tools.roofline.measured import examined
from kernels.tools.roofline.report import report

x, y = torch.randn(2, 2**26, device="cuda").unbind()
print(report(examined(lambda: add(x, y))), end="\n\n")
# --8<-- [end:examined]

# --8<-- [start:others]
from kernels.matmul import matmul
from kernels.softmax.softmax import softmax_kernel

rows = torch.randn(2048, 2**15, device="cuda")
out = torch.empty_like(rows)
spilling = examined(lambda: softmax_kernel[(2048,)](rows, out, 2**15, 2**15, 2**15, BLOCK=2**15, num_warps=4))
print(report(spilling), end="\n\n")
a, b = torch.randn(2, 8192, 8192, device="cuda").bfloat16().unbind()
product = examined(lambda: matmul(a, b), flops=2 * 8192**3)
print(report(product))
# --8<-- [end:others]
keep(figures={"spilling": spilling["kernels"][0], "product": product["kernels"][0]})
