"""A mistake: a backward kernel that takes the incoming gradient to be contiguous."""
import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:strided_gradient]
from kernels.softmax.softmax import softmax_row, softmax_row_backward


class Trusting(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = softmax_row(x, torch.empty_like(x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        print("strides of dy:", dy.stride())
        #> strides of dy: (1, 8)
        return softmax_row_backward(y, dy, torch.empty_like(y))


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(8, 300, device=device, requires_grad=True)
weights = torch.randn(300, 8, device=device)
(theirs,) = torch.autograd.grad((torch.softmax(x, dim=-1).T * weights).sum(), x)
(ours,) = torch.autograd.grad((Trusting.apply(x).T * weights).sum(), x)
print("right:", torch.allclose(ours, theirs, atol=1e-6))
#> right: False
# --8<-- [end:strided_gradient]
assert not torch.allclose(ours, theirs, atol=1e-6)
