"""What the questions of the lesson ask, asked of PyTorch: each line is the answer to one."""
import torch

x = torch.randn(6, dtype=torch.float64, requires_grad=True)
y = x.softmax(0)
(gradient,) = torch.autograd.grad(y.sum(), x)
candidates = {"zeros": torch.zeros(6), "ones": torch.ones(6), "result": y}
for name, candidate in candidates.items():
    if torch.allclose(gradient, candidate.double()):
        print(f"of_sum: {name}")


def ambiguous(function):
    """Whether two inputs have the same result and another gradient."""
    x = torch.linspace(-6, 6, 2001, dtype=torch.float64, requires_grad=True)
    y = function(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    order = y.argsort()
    near = y[order].diff() < 1e-4
    return bool((near & (gradient[order].diff().abs() > 0.1)).any())


for function in (torch.sin, torch.square, torch.sigmoid):
    if not ambiguous(function):
        print(f"result_alone: {function.__name__}")


class OneGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        return x.clone()

    @staticmethod
    def backward(ctx, dy):
        return dy  # and nothing for dim


try:
    OneGradient.apply(x, 0).sum().backward()
    print("one_gradient: works")
except RuntimeError:
    print("one_gradient: error")
