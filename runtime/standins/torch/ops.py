"""torch.ops: of PyTorch's operators by their own names, the one that a program of this site calls."""

import types
from typing import Any

from torch import _absent
from torch._tensor import Tensor


def native_layer_norm_backward(dy: Tensor, x: Tensor, shape: Any, mean: Tensor, rstd: Tensor, weight: Any, bias: Any, mask: Any):
    """The gradients of x, weight and bias."""
    rows, last = tuple(range(x.ndim - len(shape))), tuple(range(-len(shape), 0))
    normalized = (x.double() - mean.double()) * rstd.double()  # type: ignore[attr-defined]
    weighted = dy.double() * (1 if weight is None else weight.double())  # type: ignore[attr-defined]
    dx = weighted - weighted.mean(last, True) - normalized * (weighted * normalized).mean(last, True)
    gradients = dx * rstd.double(), (dy.double() * normalized).sum(rows), dy.double().sum(rows)  # type: ignore[attr-defined]
    return tuple(gradient.to(x.dtype) for gradient in gradients)


aten = types.SimpleNamespace(native_layer_norm_backward=native_layer_norm_backward)
__getattr__ = _absent.of(__name__, globals())
