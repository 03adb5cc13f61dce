"""Backward of layer norm, fourth step: the library's kernel, whose programs take many rows each."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

from kernels.norm.backward import norm_backward_kernel

device = "cuda" if torch.cuda.is_available() else "cpu"
x, dy = torch.randn(2, 20, 300, device=device)
weight = torch.randn(300, device=device)
mean, rstd = x.mean(1), torch.rsqrt(x.var(1, correction=0) + 1e-5)
dx = torch.empty_like(x)
partials = torch.empty(2, 6, 300, device=device)  # six programs
sizes = {"ROWS": 1, "BLOCK": 512, "EVEN": False, "VECTOR": 1, "STAGES": 3, "RELOAD": False}
arguments = (x, weight, dy, mean, rstd, dx, *partials, 300, 300, 300, 20, 300)
norm_backward_kernel[(6,)](*arguments, CENTERED=True, **sizes)
dweight, dbias = partials.sum(1)
expected = torch.ops.aten.native_layer_norm_backward(
    dy, x, [300], mean[:, None], rstd[:, None], weight, weight, [True] * 3
)
torch.testing.assert_close([dx, dweight, dbias], list(expected), rtol=1e-4, atol=1e-4)
print("persistent programs: right")
#> persistent programs: right
