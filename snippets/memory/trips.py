"""Time one vector addition with blocks of six sizes: other numbers of trips to memory, the same bytes."""
# needs: cuda
import sys
from functools import partial

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.add import add_kernel
from kernels.tools.benchmark import Benchmark

benchmark = Benchmark()
x, y = (torch.randn(2**26, device="cuda") for _ in range(2))
out = torch.empty_like(x)


# --8<-- [start:trips]
def add_by(block: int) -> torch.Tensor:
    grid = ((x.numel() + block - 1) // block,)
    add_kernel[grid](x, y, out, x.numel(), BLOCK=block)
    return out
# --8<-- [end:trips]


benchmark.case(
    "add_by_block", "fwd", str(2**26), torch.float32, moved=3 * x.nbytes, flops=2**26,
    implementations={f"block_{n}": partial(add_by, n) for n in (128, 256, 512, 1024, 2048, 4096)},
    expected=x.double() + y.double(),
)
benchmark.finish()
