"""A product of random numbers and a product of zeros: the same instructions, and not the same power."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.tools.benchmark import keep

# --8<-- [start:zeros]
from triton.testing import do_bench

kinds = {
    "random": torch.randn(2, 8192, 8192, device="cuda"),
    "small integers": torch.randint(-2, 3, (2, 8192, 8192), device="cuda").float(),
    "zeros": torch.zeros(2, 8192, 8192, device="cuda"),
}
kept = {}
for _ in range(2):  # the first round only warms the GPU
    for name, pair in kinds.items():
        a, b = pair.bfloat16().unbind()
        kept[name.replace(" ", "_")] = 2 * 8192**3 / do_bench(lambda a=a, b=b: a @ b, rep=1000, return_mode="median") / 1e9
for name, tflops in kept.items():
    print(f"{name:16}{tflops:6.0f} TFLOP/s")
# --8<-- [end:zeros]
keep(figures=kept)
