"""The gradients of layer norm by formula, beside autograd's, in float64."""
# --8<-- [start:gradient]
import torch

x = torch.randn(20, 300, dtype=torch.float64, requires_grad=True)
weight, bias = (torch.randn(300, dtype=torch.float64, requires_grad=True) for _ in range(2))
dy = torch.randn(20, 300, dtype=torch.float64)
y = torch.nn.functional.layer_norm(x, (300,), weight, bias, eps=0.1)

rstd = torch.rsqrt(x.var(1, correction=0, keepdim=True) + 0.1)
normal = (x - x.mean(1, keepdim=True)) * rstd
g = dy * weight
dx = (g - g.mean(1, keepdim=True) - normal * (g * normal).mean(1, keepdim=True)) * rstd
dweight = (dy * normal).sum(0)  # down the rows
dbias = dy.sum(0)  # down the rows

for formula, leaf in ((dx, x), (dweight, weight), (dbias, bias)):
    (expected,) = torch.autograd.grad(y, leaf, dy, retain_graph=True)
    torch.testing.assert_close(formula, expected)
print("the formulas are autograd's gradients")
#> the formulas are autograd's gradients
# --8<-- [end:gradient]
