"""The gradient of softmax: the matrix of all derivatives, and the same product without it."""

# --8<-- [start:derive]
import torch

x, dy = torch.randn(2, 5, dtype=torch.float64)
y = torch.softmax(x, dim=-1)

by_pytorch = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=-1), x)
jacobian = torch.diag(y) - torch.outer(y, y)
torch.testing.assert_close(jacobian, by_pytorch)

dx = y * (dy - (y * dy).sum())  # nothing larger than a row
torch.testing.assert_close(dx, jacobian @ dy)
print("the row formula agrees with the matrix")
#> the row formula agrees with the matrix
# --8<-- [end:derive]
