"""torch.autograd."""

import types

from torch import _absent
from torch._autograd import Function, enable_grad, grad, no_grad, set_grad_enabled
from torch.autograd import function, functional, graph
from torch.autograd.gradcheck import gradcheck, gradgradcheck

__all__ = [
    "DeviceType", "Function", "enable_grad", "function", "functional", "grad", "gradcheck", "gradgradcheck", "graph", "no_grad",
    "set_grad_enabled",
]  # fmt: skip
DeviceType = types.SimpleNamespace(CUDA=0)
__getattr__ = _absent.of(__name__, globals())
