"""torch.nn: modules that hold parameters."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import _functional
from torch._tensor import Tensor
from torch.nn import functional as functional


class Parameter(Tensor):
    def __new__(cls, *given: Any, **named: Any) -> "Parameter":
        return object.__new__(cls)

    def __init__(self, data: Any, *rest: Any, requires_grad: bool = True):
        if rest:  # a view of it, which is made as tensors are
            Tensor.__init__(self, data, *rest)
            return
        strides = [step // data.dtype.itemsize for step in data._array.strides]
        Tensor.__init__(self, data._storage, data._offset, data.shape, strides, data.dtype)
        self.requires_grad = requires_grad


class Module:
    training = True

    def __init__(self) -> None:
        pass

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.forward(*given, **named)  # type: ignore[attr-defined]

    def children(self) -> list["Module"]:
        return [value for value in vars(self).values() if isinstance(value, Module)]

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        for name, value in vars(self).items():
            if isinstance(value, Parameter):
                yield prefix + name, value
            elif isinstance(value, Module):
                yield from value.named_parameters(f"{prefix}{name}.")

    def parameters(self) -> Iterator[Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        setattr(self, name, tensor)

    def train(self, mode: bool = True) -> "Module":
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> "Module":
        return self.train(False)

    def to(self, *given: Any, **named: Any) -> "Module":
        for name, value in list(vars(self).items()):
            if isinstance(value, Parameter):
                setattr(self, name, Parameter(value.detach().to(*given, **named)))
            elif isinstance(value, Module):
                value.to(*given, **named)
        return self

    def cpu(self) -> "Module":
        return self

    def cuda(self, *_: Any) -> "Module":
        return self.to("cuda")

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.parameters():
            parameter.grad = None


class Linear(Module):
    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features)
        self.weight = Parameter((torch.rand(out_features, in_features) * (2 * bound) - bound).to(dtype or torch.float32))
        self.bias = Parameter((torch.rand(out_features) * (2 * bound) - bound).to(dtype or torch.float32)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return _functional.linear(x, self.weight, self.bias)


class LayerNorm(Module):
    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-5, device: Any = None, dtype: Any = None):
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.weight = Parameter(torch.ones(self.normalized_shape, dtype=dtype))
        self.bias = Parameter(torch.zeros(self.normalized_shape, dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        return _functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)


class Embedding(Module):
    def __init__(self, num_embeddings: int, embedding_dim: int, device: Any = None, dtype: Any = None):
        self.weight = Parameter(torch.randn(num_embeddings, embedding_dim).to(dtype or torch.float32))

    def forward(self, index: Tensor) -> Tensor:
        return self.weight[index]


class ModuleList(Module):
    def __init__(self, modules: Sequence[Module] = ()):
        for number, module in enumerate(modules):
            setattr(self, str(number), module)

    def __getitem__(self, index: int) -> Module:
        return self.children()[index]

    def __iter__(self) -> Iterator[Module]:
        return iter(self.children())

    def __len__(self) -> int:
        return len(self.children())


class Sequential(ModuleList):
    def __init__(self, *modules: Module):
        super().__init__(modules)

    def forward(self, x: Any) -> Any:
        for module in self.children():
            x = module(x)
        return x


def activation(name: str, function: Callable) -> type:
    return type(name, (Module,), {"forward": lambda self, x: function(x)})


ReLU = activation("ReLU", _functional.relu)
SiLU = activation("SiLU", _functional.silu)
GELU = activation("GELU", _functional.gelu)
Sigmoid = activation("Sigmoid", _functional.sigmoid)
Tanh = activation("Tanh", _functional.tanh)

__getattr__ = torch._absent.of(__name__, globals())
