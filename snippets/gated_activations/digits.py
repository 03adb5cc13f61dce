"""One plus the error function loses its digits below zero; the smaller share keeps them."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:digits]
import torch.nn.functional as F
import triton
import triton.language as tl

from kernels.activations import gelu


@triton.jit
def gelu_by_sum_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes)
    tl.store(y_ptr + lanes, 0.5 * x * (1 + tl.erf(0.7071067811865476 * x)))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.tensor([1.0, -1.0, -3.0, -5.0], device=device)
y = torch.empty_like(x)
gelu_by_sum_kernel[(1,)](x, y, BLOCK=4)
expected = F.gelu(x.double())
for name, values in {"one plus erf": y, "the library": gelu(x)}.items():
    wrong = ((values.double() - expected) / expected).abs()
    print(f"{name}, right to a thousandth: {(wrong < 1e-3).tolist()}")
    #> one plus erf, right to a thousandth: [True, True, True, False]
    #> the library, right to a thousandth: [True, True, True, True]
# --8<-- [end:digits]
