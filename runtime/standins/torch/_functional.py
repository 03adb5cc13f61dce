"""torch.nn.functional, made of differentiable parts. Short floats are computed as float32 and rounded at the end."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch import _autograd, _dispatch
from torch._autograd import recorded
from torch._dtypes import BOOL, float32
from torch._movement import stack
from torch._pointwise import erf, exp, log, relu, rsqrt, sigmoid, tanh, where
from torch._products import addmm
from torch._random import default_generator
from torch._reductions import log_softmax, norm, softmax
from torch._settings import settings
from torch._tensor import Tensor, meta_tensor, tensor_of, values_of

__all__ = [
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "embedding_bag",
    "gelu",
    "glu",
    "hardtanh",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "relu",
    "rms_norm",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
    "tanh",
]


# What an operation is called among PyTorch's own, where a program may watch them.
OPERATIONS = {"layer_norm": "native_layer_norm", "rms_norm": "_fused_rms_norm"}


def up(t: Any) -> Any:
    """A short float as float32."""
    return t.float() if t is not None and t.dtype.is_floating_point and t.dtype.itemsize < 4 else t


def fused(function: Callable) -> Callable:
    """One node for a function of several operations: it keeps the arguments, and its derivative is that of its parts."""

    @_dispatch.operation(OPERATIONS.get(function.__name__, function.__name__))
    @functools.wraps(function)
    def op(*given: Any, **named: Any) -> Any:
        inputs = [value for value in (*given, *named.values()) if isinstance(value, Tensor)]
        if inputs[0].is_meta:
            return meta_tensor(inputs[0].shape, inputs[0].dtype)
        if not settings.grad or not any(value.requires_grad for value in inputs):
            return function(*given, **named)
        names = [name for name, value in named.items() if isinstance(value, Tensor)]
        places = [place for place, value in enumerate(given) if isinstance(value, Tensor)]
        with _autograd.no_grad():
            output = function(*given, **named)

        def back(gradient: Tensor, *kept: Tensor) -> tuple:
            """Compute once more, now on the tape, and go back through the parts."""
            again = settings.grad
            with _autograd.enable_grad():
                mine = [one.reshape(one.shape) if again and one.requires_grad else fresh(one) for one in kept]
                every = list(given)
                for place, one in zip(places, mine, strict=False):
                    every[place] = one
                made = function(*every, **{**named, **dict(zip(names, mine[len(places) :], strict=True))})
                wanted = [one for one in mine if one.requires_grad]
                found = iter(_autograd.grad(made, wanted, gradient, create_graph=again, allow_unused=True))
            return tuple(next(found) if one.requires_grad else None for one in mine)

        name = "".join(part.capitalize() for part in function.__name__.split("_"))
        return recorded(name, output, inputs, back, *inputs)

    return op


def fresh(t: Tensor) -> Tensor:
    return t.detach().requires_grad_(t.requires_grad)


# Activations


@fused
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    x = up(input)
    return (x * sigmoid(x)).to(input.dtype)


@fused
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    x = up(input)
    turned = erf(x * math.sqrt(0.5)) if approximate == "none" else tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))
    return (0.5 * x * (1 + turned)).to(input.dtype)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    return where(input > 0, input, input * negative_slope)  # type: ignore[operator]


def elu(input: Tensor, alpha: float = 1.0) -> Tensor:
    return where(input > 0, input, (exp(input) - 1) * alpha)  # type: ignore[operator]


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    return input.clamp(min_val, max_val)  # type: ignore[attr-defined]


def softplus(input: Tensor) -> Tensor:
    return log(1 + exp(input))


def logsigmoid(input: Tensor) -> Tensor:
    return -softplus(-input)  # type: ignore[operator]


def softsign(input: Tensor) -> Tensor:
    return input / (1 + input.abs())  # type: ignore[attr-defined, operator]


def glu(input: Tensor, dim: int = -1) -> Tensor:
    value, gate = input.chunk(2, dim)
    return value * sigmoid(gate)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if not training or p == 0:
        return input
    kept = tensor_of((default_generator.uniform(input.numel(), float32) >= p).reshape(input.shape))
    return input * kept / (1 - p)  # type: ignore[operator]


# Layers


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if settings.autocast:
        input, weight, bias = (one if one is None else one.to(settings.autocast[-1]) for one in (input, weight, bias))
    if input.ndim > 2:
        rows = linear(input.reshape(-1, input.shape[-1]), weight, bias)
        return rows.reshape(*input.shape[:-1], weight.shape[0])
    if bias is None:
        return input @ weight.mT  # type: ignore[operator]
    return addmm(bias, input, weight.mT) if input.ndim == 2 else input @ weight.mT + bias  # type: ignore[operator]


@fused
def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    x, dims = up(input), tuple(range(-len(normalized_shape), 0))
    centered = x - x.mean(dims, True)
    made = centered * rsqrt((centered * centered).mean(dims, True) + eps)
    made = made if weight is None else made * up(weight)
    return (made if bias is None else made + up(bias)).to(input.dtype)


@fused
def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None) -> Tensor:
    x, dims = up(input), tuple(range(-len(normalized_shape), 0))
    eps = float(np.finfo(x.dtype.computed).eps) if eps is None else eps
    made = x * rsqrt((x * x).mean(dims, True) + eps)
    return (made if weight is None else made * up(weight)).to(input.dtype)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    return input / norm(input, p, dim, True).clamp(min=eps)  # type: ignore[attr-defined, operator]


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    return weight[input]


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, mode: str = "mean", per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
) -> Tensor:  # fmt: skip
    rows, reduce = weight[input], {"sum": "sum", "mean": "mean", "max": "amax"}[mode]
    rows = rows if per_sample_weights is None else rows * per_sample_weights[..., None]  # type: ignore[operator]
    if offsets is None:
        return getattr(rows, reduce)(1)
    ends = [*offsets.tolist(), *([] if include_last_offset else [input.shape[0]])]
    return stack([getattr(rows[first:last], reduce)(0) for first, last in zip(ends, ends[1:], strict=False)])


@fused
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    if enable_gqa and key.shape[-3] != query.shape[-3]:
        heads = query.shape[-3] // key.shape[-3]
        key, value = (one.repeat_interleave(heads, -3) for one in (key, value))  # type: ignore[attr-defined]
    scores = up(query) @ up(key).mT * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(tensor_of(~np.tril(np.ones(scores.shape[-2:], np.bool_))), -math.inf)
    if attn_mask is not None:
        hides = attn_mask.dtype.kind == BOOL
        scores = scores.masked_fill(~attn_mask, -math.inf) if hides else scores + attn_mask
    return (softmax(scores, -1) @ up(value)).to(query.dtype)  # type: ignore[operator]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float = 0.0) -> Tensor:
    sides = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)][::-1]
    sides = [(0, 0)] * (input.ndim - len(sides)) + sides
    made = tensor_of(np.pad(values_of(input), sides, constant_values=value), input.dtype)
    inside = tuple(slice(before, before + size) for (before, _), size in zip(sides, input.shape, strict=True))
    return recorded("ConstantPadNd", made, (input,), lambda g: (g[inside],))


# Losses


@fused
def cross_entropy(
    input: Tensor, target: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    if weight is not None:
        raise NotImplementedError("the stand-in for PyTorch has no weights in cross_entropy")
    x = input[None] if input.ndim == 1 else input
    if x.ndim > 2:
        x = x.movedim(1, -1).reshape(-1, x.shape[1])
    wanted = target.reshape(-1)
    chances = log_softmax(up(x), -1)
    counts = wanted != ignore_index  # type: ignore[operator]
    loss = -chances.gather(1, where(counts, wanted, 0)[:, None])[:, 0]
    if label_smoothing:
        loss = (1 - label_smoothing) * loss - label_smoothing * chances.mean(1)
    loss = where(counts, loss, 0.0)
    if reduction == "none":
        return loss.reshape(target.shape).to(input.dtype)
    total = loss.sum()
    return (total / counts.sum() if reduction == "mean" else total).to(input.dtype)  # type: ignore[attr-defined]


def nll_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    loss = -input.gather(1, target[:, None])[:, 0]  # type: ignore[attr-defined]
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def mse_loss(input: Tensor, target: Tensor) -> Tensor:
    off = input - target  # type: ignore[operator]
    return (off * off).mean()


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    values = values_of(tensor)
    classes = int(values.max()) + 1 if num_classes < 0 else num_classes
    return tensor_of(np.eye(classes, dtype=np.int64)[values])
