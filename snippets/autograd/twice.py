"""Differentiating twice: what a backward kernel loses in silence, and what once_differentiable does not see."""
import os

# --8<-- [start:torch]
import torch
# --8<-- [end:torch]

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported
    print("No CUDA device found: Triton's interpreter runs the kernel on the CPU.")

# --8<-- [start:twice]
from torch.autograd.function import once_differentiable

from kernels.softmax import softmax
from kernels.softmax.softmax import softmax_backward, softmax_forward


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = softmax_forward(x, 1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        return softmax_backward(ctx.saved_tensors[0], dy, 1)


class Once(Plain):
    backward = staticmethod(once_differentiable(Plain.backward))


def second(function, x, weights):
    """The gradient of a gradient penalty."""
    (dx,) = torch.autograd.grad((function(x) * weights).sum(), x, create_graph=True)
    x.grad = None
    ((dx**2).sum() + (x**2).sum()).backward()
    return x.grad


device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(3, 5, device=device, requires_grad=True)
weights = torch.randn(3, 5, device=device)
expected = second(lambda x: torch.softmax(x, dim=-1), x, weights)
ways = {"kernel alone": Plain.apply, "once_differentiable": Once.apply}
ways["softmax"] = softmax
for name, function in ways.items():
    found = second(function, x, weights)
    right = torch.allclose(found, expected, atol=1e-5)
    print(f"{name}: {'right' if right else 'wrong'}")
    #> kernel alone: wrong
    #> once_differentiable: wrong
    #> softmax: right

try:
    second(Once.apply, x, weights.requires_grad_())
except RuntimeError as error:
    print(str(error).split(" a function")[0])
    #> trying to differentiate twice
# --8<-- [end:twice]
