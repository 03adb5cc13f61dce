"""Which operations give the same bits when they run again, and which do not."""
# needs: cuda
import sys

import torch

if not torch.cuda.is_available():
    print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
    sys.exit(2)

from kernels.cross_entropy import cross_entropy
from kernels.norm import layer_norm
from kernels.norm import rms_norm
from kernels.softmax import softmax
from kernels.reductions import sum

torch.manual_seed(0)
x = torch.randn(4096, 5000, device="cuda")
w, b = torch.randn(5000, device="cuda"), torch.randn(5000, device="cuda")
target = torch.randint(5000, (4096,), device="cuda")
place = torch.randint(1000, (x.numel(),), device="cuda")


def gradients(function, *inputs):
    leaves = [value.clone().requires_grad_() for value in inputs]
    return torch.autograd.grad(function(*leaves).square().sum(), leaves)


# --8<-- [start:twice]
OPERATIONS = {
    "kernels.softmax, gradient": lambda: gradients(softmax, x),
    "kernels.layer_norm, gradients": lambda: gradients(layer_norm, x, w, b),
    "kernels.rms_norm, gradients": lambda: gradients(rms_norm, x, w),
    "kernels.cross_entropy, gradient": lambda: gradients(lambda x: cross_entropy(x, target), x),
    "kernels.sum": lambda: [sum(x)],
    "torch.index_add": lambda: [torch.zeros(1000, device="cuda").index_add_(0, place, x.flatten())],
}
runs = 20
for name, run in OPERATIONS.items():
    first = run()
    again = [run() for _ in range(runs)]
    same = len([other for other in again if all(map(torch.equal, first, other))])
    print(f"{name:34}{same:>3} of {runs} runs gave the bits of the first")
# --8<-- [end:twice]
