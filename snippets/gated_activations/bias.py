"""GELU with a bias, and both gradients, beside PyTorch's."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")


# --8<-- [start:bias]
import torch.nn.functional as F

from kernels.activations import gelu

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(60, 96, device=device, requires_grad=True)
bias = torch.randn(96, device=device, requires_grad=True)
dy = torch.randn(60, 96, device=device)
ours = torch.autograd.grad(gelu(x, bias), (x, bias), dy)
theirs = torch.autograd.grad(F.gelu(x + bias), (x, bias), dy)
for one, other in zip(ours, theirs, strict=True):
    torch.testing.assert_close(one, other)
print("shapes:", [tuple(one.shape) for one in ours])
#> shapes: [(60, 96), (96,)]
# --8<-- [end:bias]
