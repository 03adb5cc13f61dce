"""torch.library: operators of one's own, called eagerly. There are no graphs here that would hold them.

`opcheck` asks what can be asked without a graph: are the arguments left as they were, and does the fake say the right shape?
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import _absent
from torch._autograd import Function
from torch._settings import settings
from torch._tensor import Tensor

SUCCESS = "SUCCESS"


class OpCheckError(Exception):
    pass


class CustomOpDef:
    """An operator: what it does, its fake, its gradient, and what autocast makes of its arguments."""

    def __init__(self, name: str, function: Callable | None = None, mutates_args: Any = ()):
        self.name, self.function, self.mutates_args = name, function, mutates_args
        self.fake: Callable | None = None
        self.backward: Callable | None = None
        self.setup_context: Callable | None = None
        self.autocast: Any = None
        self.__name__ = name.rpartition("::")[2]

    def __call__(self, *given: Any) -> Any:
        if self.autocast is not None and settings.autocast:
            given = tuple(value.to(self.autocast) if is_float(value) else value for value in given)
        before, settings.autocast = settings.autocast, [] if self.autocast is not None else settings.autocast
        try:
            return self.function(*given) if self.backward is None else self.differentiable().apply(*given)  # type: ignore[misc]
        finally:
            settings.autocast = before

    def differentiable(self) -> type[Function]:
        operator = self

        class Operator(Function):
            @staticmethod
            def forward(ctx: Any, *given: Any) -> Any:
                output = operator.function(*given)  # type: ignore[misc]
                if operator.setup_context:
                    operator.setup_context(ctx, given, output)
                return output

            @staticmethod
            def backward(ctx: Any, *gradients: Any) -> Any:
                return operator.backward(ctx, *gradients)  # type: ignore[misc]

        return Operator

    @property
    def default(self) -> "CustomOpDef":
        return self

    def register_fake(self, fn: Callable) -> Callable:
        self.fake = fn
        return fn

    def register_autograd(self, backward: Callable, *, setup_context: Callable | None = None) -> None:
        self.backward, self.setup_context = backward, setup_context

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        self.autocast = cast_inputs

    def register_kernel(self, device_types: Any, fn: Callable | None = None) -> Any:
        return fn if fn else (lambda function: function)


def is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.is_floating_point


def namespace_of(name: str) -> tuple[Any, str]:
    """Where torch.ops keeps an operator, made when it is not there yet, and its name there."""
    space, _, last = name.partition("::")
    if space not in vars(torch.ops):
        setattr(torch.ops, space, type(space, (), {})())
    return getattr(torch.ops, space), last


def custom_op(
    name: str, fn: Callable | None = None, /, *, mutates_args: Any, device_types: Any = None, schema: Any = None
) -> Any:
    def make(function: Callable) -> CustomOpDef:
        made = CustomOpDef(name, function, mutates_args)
        space, last = namespace_of(name)
        setattr(space, last, made)
        return made

    return make(fn) if fn else make


triton_op = custom_op


def wrap_triton(kernel: Any) -> Any:
    """PyTorch's own refuses an interpreted kernel; here it is the kernel."""
    return kernel


class Library:
    def __init__(self, ns: str, kind: str, dispatch_key: str = ""):
        self.ns = ns

    def define(self, schema: str) -> None:
        name = f"{self.ns}::{schema.partition('(')[0]}"
        space, last = namespace_of(name)
        setattr(space, last, CustomOpDef(name))

    def impl(self, name: str, fn: Callable, dispatch_key: str = "") -> None:
        if dispatch_key in ("", "CPU", "CompositeExplicitAutograd"):
            found(f"{self.ns}::{name.rpartition('::')[2]}").function = fn


def found(name: Any) -> CustomOpDef:
    if isinstance(name, CustomOpDef):
        return name
    space, last = namespace_of(name)
    return getattr(space, last)


def register_fake(op: Any, func: Callable | None = None, *, lib: Any = None) -> Any:
    return found(op).register_fake if func is None else found(op).register_fake(func)


def register_autograd(op: Any, backward: Callable, *, setup_context: Callable | None = None, lib: Any = None) -> None:
    found(op).register_autograd(backward, setup_context=setup_context)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, *, lib: Any = None) -> None:
    found(op).register_autocast(device_type, cast_inputs)


def opcheck(op: Any, args: Sequence[Any], kwargs: Any = None, *, raise_exception: bool = True) -> dict[str, Any]:
    operator, tensors = found(op), [value for value in args if isinstance(value, Tensor)]
    before = [value.detach().clone() for value in tensors]
    with torch.no_grad():
        output = operator(*args)
        changed = [not torch.equal(value, was) for value, was in zip(tensors, before, strict=True)]
        fake = operator.fake(*args) if operator.fake else None
    results: dict[str, Any] = {"test_schema": SUCCESS, "test_faketensor": SUCCESS}
    if any(changed) and not operator.mutates_args:
        results["test_schema"] = OpCheckError("an argument was changed, and mutates_args says that none is")
    elif fake is None or (fake.shape, fake.dtype) != (output.shape, output.dtype):
        told = "there is none" if fake is None else f"it says {tuple(fake.shape)}, and the output has {tuple(output.shape)}"
        results["test_faketensor"] = OpCheckError(f"the fake is not like the operator: {told}")
    for name, outcome in results.items():
        if raise_exception and outcome != SUCCESS:
            raise OpCheckError(f"opcheck(op, ...): {name} failed with {outcome}")
    return results


__getattr__ = _absent.of(__name__, globals())
