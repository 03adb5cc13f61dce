"""Along dimensions: sums, extremes, moments, running sums, softmax, each with its derivative."""

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch import _dispatch
from torch._autograd import recorded
from torch._dtypes import FLOAT, INT, boolean, dtype, int64
from torch._methods import method, quiet, written
from torch._pointwise import abs_, exp, isinf, kind_name, log, maximum, minimum, pow_, sqrt, where
from torch._storage import dimensions, shape_of
from torch._tensor import Tensor, meta_tensor, operand, tensor_of, values_of

Axes = tuple[int, ...] | None


class Pair(tuple):
    """Two tensors with the names that PyTorch gives them."""

    def __new__(cls, *parts: Any) -> "Pair":
        return tuple.__new__(cls, parts)

    values = min = property(lambda self: self[0])
    indices = max = property(lambda self: self[1])


def restored(gradient: Tensor, shape: Sequence[int], axes: Axes, keepdim: bool) -> Tensor:
    """A reduction's gradient with its reduced dimensions back, of size one."""
    if keepdim or (axes is None and not shape):
        return gradient
    gone = range(len(shape)) if axes is None else axes
    return gradient.reshape([1 if dim in gone else size for dim, size in enumerate(shape)])


def counted(a: Tensor, axes: Axes) -> int:
    return a.numel() if axes is None else math.prod(a.shape[dim] for dim in axes)


def reduced_shape(shape: Sequence[int], axes: Axes, keepdim: bool) -> list[int]:
    gone = range(len(shape)) if axes is None else axes
    return [1 if dim in gone else size for dim, size in enumerate(shape) if keepdim or dim not in gone]


def widened(a: Tensor) -> Tensor:
    """Short floats as float32."""
    return a.float() if a.dtype.itemsize < 4 else a  # type: ignore[attr-defined]


@method()
@_dispatch.operation("sum")
def sum(a: Tensor, dim: Any = None, keepdim: bool = False, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    axes, shape = dimensions(dim, a.ndim), a.shape
    kind = dtype or (int64 if a.dtype.kind <= INT else a.dtype)
    if a.is_meta:
        return meta_tensor(reduced_shape(shape, axes, keepdim), kind)
    within = np.int64 if kind.kind == INT else kind.computed
    with quiet():
        total = np.sum(values_of(a).astype(within, copy=False), axis=axes, keepdims=keepdim, dtype=within)
    made = recorded("Sum", tensor_of(total, kind), (a,), lambda g: (lambda: restored(g, shape, axes, keepdim).expand(shape),))
    return written(out, made)


@method()
def sum_to_size(a: Tensor, *size: Any) -> Tensor:
    shape = shape_of(size)
    lead = a.ndim - len(shape)
    dims = [*range(lead), *(dim + lead for dim, size in enumerate(shape) if size == 1 and a.shape[dim + lead] != 1)]
    return (sum(a, tuple(dims), True) if dims else a).reshape(shape)


@method()
@_dispatch.operation("mean")
def mean(a: Tensor, dim: Any = None, keepdim: bool = False, dtype: dtype | None = None) -> Tensor:
    axes, shape, kind = dimensions(dim, a.ndim), a.shape, dtype or a.dtype
    if kind.kind < FLOAT:
        could_not = "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype."
        raise RuntimeError(f"{could_not} Got: {kind_name(kind)}")
    if a.is_meta:
        return meta_tensor(reduced_shape(shape, axes, keepdim), kind)
    count = counted(a, axes)
    with quiet():
        made = tensor_of(np.sum(operand(a, kind), axis=axes, keepdims=keepdim) / np.asarray(count, kind.computed), kind)
    return recorded("Mean", made, (a,), lambda g: (lambda: (restored(g, shape, axes, keepdim) / count).expand(shape),))


def extreme(name: str, compute: Callable) -> Callable:
    @_dispatch.operation(name.lower())
    def op(a: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        axes = dimensions(dim if dim != () else None, a.ndim)
        if a.is_meta:
            return meta_tensor(reduced_shape(a.shape, axes, keepdim), a.dtype)
        made = tensor_of(compute(values_of(a), axis=axes, keepdims=keepdim), a.dtype)

        def back(g: Tensor, a: Tensor, made: Tensor) -> tuple:
            """Equal extremes share the gradient."""
            hit = a == restored(made, a.shape, axes, keepdim)
            return (lambda: restored(g, a.shape, axes, keepdim) * hit / hit.sum(axes, True).to(g.dtype),)  # type: ignore[attr-defined]

        return recorded(name, made, (a,), back, a, made)

    return op


amax, amin = extreme("Amax", np.max), extreme("Amin", np.min)
method("amax")(amax)
method("amin")(amin)


def with_indices(name: str, whole: Callable, where_is: Callable, of_two: Callable) -> Callable:
    """`max` and `min`: of all elements, of two tensors, or along a dimension with the places."""

    @_dispatch.operation(name)
    def op(a: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, Tensor):
            return of_two(a, dim)
        if dim is None:
            return whole(a)
        places = tensor_of(np.asarray(where_is(values_of(a), axis=dim, keepdims=True)).astype(np.int64))
        taken = a.gather(dim, places) if a.ndim else a
        return Pair(taken, places) if keepdim else Pair(taken.squeeze(dim), places.squeeze(dim))

    return op


max = method("max")(with_indices("max", amax, np.argmax, maximum))
min = method("min")(with_indices("min", amin, np.argmin, minimum))


@method()
def aminmax(a: Tensor, *, dim: Any = None, keepdim: bool = False) -> Pair:
    return Pair(amin(a, dim, keepdim), amax(a, dim, keepdim))


def plain(compute: Callable, kind: dtype) -> Callable:
    """A reduction without a gradient."""

    def op(a: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        axes: Any = dimensions(dim, a.ndim)
        axes = axes[0] if axes and len(axes) == 1 else axes
        return tensor_of(np.asarray(compute(values_of(a), axis=axes, keepdims=keepdim)), kind)

    return op


any = method("any")(plain(np.any, boolean))
all = method("all")(plain(np.all, boolean))
argmax = method("argmax")(plain(np.argmax, int64))
argmin = method("argmin")(plain(np.argmin, int64))


@method()
def prod(a: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    kind = int64 if a.dtype.kind <= INT else a.dtype
    return tensor_of(np.prod(operand(a, kind), axis=dimensions(dim, a.ndim), keepdims=keepdim), kind)


@method()
def count_nonzero(a: Tensor, dim: Any = None) -> Tensor:
    return tensor_of(np.asarray(np.count_nonzero(values_of(a), axis=dimensions(dim, a.ndim))).astype(np.int64))


@method()
@_dispatch.operation("var")
def var(a: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False, correction: int | None = None) -> Tensor:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    less = (1 if unbiased else 0) if correction is None else correction
    axes, x = dimensions(dim, a.ndim), widened(a)
    off = x - mean(x, axes, True)  # type: ignore[operator]
    return (sum(off * off, axes, keepdim) / builtins.max(counted(a, axes) - less, 0)).to(a.dtype)  # type: ignore[operator]


@method()
def std(a: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False, correction: int | None = None) -> Tensor:
    return sqrt(var(a, dim, unbiased, keepdim, correction))


def var_mean(a: Tensor, dim: Any = None, **named: Any) -> tuple[Tensor, Tensor]:
    return var(a, dim, **named), mean(a, dim, named.get("keepdim", False))


@method()
def norm(a: Tensor, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: dtype | None = None) -> Tensor:
    a = a.to(dtype) if dtype else a
    if p in (math.inf, "inf"):
        return amax(abs_(a), dim, keepdim)
    p, x = 2 if p == "fro" else p, widened(a)
    total = sum(x * x if p == 2 else pow_(abs_(x), p), dim, keepdim)  # type: ignore[operator]
    return (sqrt(total) if p == 2 else pow_(total, 1 / p)).to(a.dtype)


@method()
def logsumexp(a: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    x = widened(a)
    peak = amax(x.detach(), dim, True)
    peak = where(isinf(peak), 0.0, peak)
    made = log(sum(exp(x - peak), dim, True)) + peak  # type: ignore[operator]
    return (made if keepdim else made.squeeze(dim)).to(a.dtype)


@method()
def cumsum(a: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    kind = dtype or (int64 if a.dtype.kind <= INT else a.dtype)
    made = tensor_of(np.cumsum(operand(a, kind), axis=dim), kind)
    return recorded("Cumsum", made, (a,), lambda g: (g.flip(dim).cumsum(dim).flip(dim),))


@method()
def cumprod(a: Tensor, dim: int) -> Tensor:
    kind = int64 if a.dtype.kind <= INT else a.dtype
    return tensor_of(np.cumprod(operand(a, kind), axis=dim), kind)


@method()
def median(a: Tensor, dim: int | None = None) -> Any:
    if dim is None:
        return tensor_of(np.sort(values_of(a), axis=None)[(a.numel() - 1) // 2], a.dtype)
    return Pair(*(part.select(dim, (a.shape[dim] - 1) // 2) for part in a.sort(dim)))


@method()
def quantile(a: Tensor, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear") -> Tensor:
    return tensor_of(np.quantile(values_of(a), values_of(q), axis=dim, keepdims=keepdim, method=interpolation), a.dtype)


def softmax_like(name: str, is_log: bool) -> Callable:
    @_dispatch.operation("_log_softmax" if is_log else "_softmax")
    def op(a: Tensor, dim: Any = None, dtype: dtype | None = None, _stacklevel: Any = None) -> Tensor:
        a = a.to(dtype) if dtype else a
        x = values_of(a)
        with quiet():
            below = x - np.max(x, axis=dim, keepdims=True) if x.size else x
            total = np.exp(below).sum(dim, keepdims=True)
            made = tensor_of(below - np.log(total) if is_log else np.exp(below) / total, a.dtype)

        def back(g: Tensor, made: Tensor) -> tuple:
            if is_log:
                return (g - exp(made) * sum(g, dim, True),)  # type: ignore[operator]
            return (made * (g - sum(g * made, dim, True)),)  # type: ignore[operator]

        return recorded(name, made, (a,), back, made)

    return op


softmax = method("softmax")(softmax_like("Softmax", False))
log_softmax = method("log_softmax")(softmax_like("LogSoftmax", True))
