"""torch.autograd.function."""

from torch._autograd import Function, FunctionCtx, once_differentiable

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
