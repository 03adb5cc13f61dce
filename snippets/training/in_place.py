"""One chunk of logits becomes its gradient where it lies, in one kernel that also finds the losses."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from kernels.cross_entropy.total import LOG2_OF_E
# --8<-- [end:imports]
from kernels.linear_cross_entropy.rows import linear_cross_entropy_kernel

# --8<-- [start:in_place]
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
logits = torch.randn(6, 1008, device=device)  # the room of 1000 logits a row
target = torch.randint(0, 1000, (6,), device=device)
leaf = logits[:, :1000].clone().requires_grad_()
expected = F.cross_entropy(leaf, target, reduction="none")
(gradient,) = torch.autograd.grad(expected.mean(), leaf)

loss, count = torch.empty(6, device=device), torch.tensor(6, device=device)
linear_cross_entropy_kernel[(6,)](
    *(logits, target, None, count, loss),
    *(logits.stride(0), 0, 1000, -100, 0.0),
    SMOOTHED=False,
    GRADIENT=True,
    BLOCK=256,
)
torch.testing.assert_close(loss, expected.detach())
torch.testing.assert_close(logits[:, :1000], gradient)
print("losses as PyTorch's, and the logits are now their gradient")
#> losses as PyTorch's, and the logits are now their gradient
# --8<-- [end:in_place]
