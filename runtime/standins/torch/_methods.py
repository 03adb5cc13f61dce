"""How the functions of the stand-in become methods of tensors, and what they share."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from torch._dtypes import dtype_of_number
from torch._tensor import Tensor, tensor_of

quiet = functools.partial(np.errstate, all="ignore")  # infinities and NaN come out as they do in PyTorch, without a word


def method(*names: str) -> Callable[[Callable], Callable]:
    """Make a function a method, too, under its own name or others."""

    def put(function: Callable) -> Callable:
        for name in names or (function.__name__,):
            setattr(Tensor, name, function)
        return function

    return put


def written(out: Tensor | None, result: Tensor) -> Tensor:
    """`out=`: the result goes there instead."""
    return result if out is None else out.copy_(result)


def number_tensor(value: Any) -> Tensor:
    return tensor_of(np.asarray(value), dtype_of_number(value))
