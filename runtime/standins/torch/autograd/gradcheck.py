"""torch.autograd.gradcheck: gradients against central differences, entry by entry."""

from collections.abc import Callable
from typing import Any

import numpy as np
from torch._autograd import grad, no_grad
from torch._making import zeros
from torch._random import randn
from torch._tensor import Tensor, values_of


class GradcheckError(RuntimeError):
    pass


def several(value: Any) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def numerical(function: Callable, inputs: tuple, x: Tensor, output: int, eps: float) -> np.ndarray:
    """How one output changes with each entry of x."""
    rows = []
    for place in np.ndindex(*x.shape):
        before, sides = x._array[place].copy(), []
        for step in (eps, -eps):
            x._array[place] = before + x._array.dtype.type(step)
            with no_grad():
                sides.append(values_of(several(function(*inputs))[output]).astype(np.float64).reshape(-1))
        x._array[place] = before
        rows.append((sides[0] - sides[1]) / (2 * eps))
    return np.stack(rows)


def analytical(y: Tensor, x: Tensor) -> np.ndarray:
    columns = []
    for place in range(y.numel()):
        direction = zeros(y.numel(), dtype=y.dtype)
        direction[place] = 1
        found = grad(y, x, direction.reshape(y.shape), retain_graph=True, allow_unused=True)[0]
        columns.append(np.zeros(x.numel()) if found is None else values_of(found).astype(np.float64).reshape(-1))
    return np.stack(columns, 1)


def gradcheck(
    func: Callable, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True,
    **options: Any,
) -> bool:  # fmt: skip
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = [y for y in several(func(*inputs)) if isinstance(y, Tensor) and y.requires_grad]
    for number, y in enumerate(outputs):
        for place, x in enumerate(inputs):
            if not isinstance(x, Tensor) or not x.requires_grad:
                continue
            theirs, ours = numerical(func, inputs, x, number, eps), analytical(y, x)
            if not np.allclose(ours, theirs, rtol, atol):
                if raise_exception:
                    what = f"Jacobian mismatch for output {number} with respect to input {place},"
                    raise GradcheckError(f"{what}\nnumerical:{theirs}\nanalytical:{ours}")
                return False
    return True


def gradgradcheck(func: Callable, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    y = func(*inputs)
    direction = randn(y.shape, dtype=y.dtype).requires_grad_()

    def gradients(*given: Any) -> tuple:
        *xs, towards = given
        wanted = [x for x in xs if isinstance(x, Tensor) and x.requires_grad]
        return grad(func(*xs), wanted, towards, create_graph=True)

    return gradcheck(gradients, (*inputs, direction), **options)
