"""torch.autograd.functional."""

from collections.abc import Callable

from torch import _absent
from torch._autograd import grad
from torch._making import zeros
from torch._movement import stack
from torch._tensor import Tensor


def jacobian(func: Callable, inputs: Tensor) -> Tensor:
    x = inputs.detach().requires_grad_()
    y = func(x)
    rows = []
    for place in range(y.numel()):
        direction = zeros(y.numel(), dtype=y.dtype)
        direction[place] = 1
        rows.append(grad(y, x, direction.reshape(y.shape), retain_graph=True)[0])
    return stack(rows).reshape(*y.shape, *x.shape)


__getattr__ = _absent.of(__name__, globals())
