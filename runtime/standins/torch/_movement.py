"""Elements moved, picked, put and sorted."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch import _dispatch
from torch._autograd import recorded
from torch._dtypes import encoded, promoted
from torch._methods import method
from torch._reductions import Pair
from torch._storage import Size, shape_of
from torch._tensor import Tensor, meta_tensor, operand, tensor_of, tensor_of_bits, values_of


@_dispatch.operation("cat")
def cat(tensors: Sequence[Tensor], dim: int = 0, out: Tensor | None = None) -> Tensor:
    given = list(tensors)
    kind = functools.reduce(promoted, (one.dtype for one in given))
    # An empty vector fits everywhere, as PyTorch has it.
    if any(one.ndim != 1 for one in given):
        given = [one for one in given if one.ndim != 1 or one.numel()]
    sizes = [one.shape[dim] for one in given]
    if given[0].is_meta:
        shape = list(given[0].shape)
        shape[dim] = sum(sizes)
        return meta_tensor(shape, kind)
    made = tensor_of(np.concatenate([operand(one, kind) for one in given], dim), kind)
    made = recorded("Cat", made, tuple(given), lambda g: g.split(sizes, dim))
    return made if out is None else out.copy_(made)


@_dispatch.operation("stack")
def stack(tensors: Sequence[Tensor], dim: int = 0, out: Tensor | None = None) -> Tensor:
    given = list(tensors)
    return cat([one.unsqueeze(dim) for one in given], dim % (given[0].ndim + 1), out)


@method()
def flip(a: Tensor, *dims: Any) -> Tensor:
    along = shape_of(dims)
    made = tensor_of_bits(np.ascontiguousarray(np.flip(a._array, along)), a.dtype)
    return recorded("Flip", made, (a,), lambda g: (g.flip(along),))


@method()
def roll(a: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    back = [-shift for shift in shifts] if isinstance(shifts, tuple | list) else -shifts
    return recorded("Roll", tensor_of_bits(np.roll(a._array, shifts, dims), a.dtype), (a,), lambda g: (roll(g, back, dims),))


def triangle(name: str, compute: Callable) -> Callable:
    def op(a: Tensor, diagonal: int = 0) -> Tensor:
        return recorded(name, tensor_of_bits(compute(a._array, diagonal), a.dtype), (a,), lambda g: (op(g, diagonal),))

    return op


tril = method("tril")(triangle("Tril", np.tril))
triu = method("triu")(triangle("Triu", np.triu))


@method()
def diag(a: Tensor, diagonal: int = 0) -> Tensor:
    made = tensor_of_bits(np.array(np.diag(a._array, diagonal)), a.dtype)
    return recorded("Diag", made, (a,), lambda g: (diag(g, diagonal),))


@method()
def repeat(a: Tensor, *times: Any) -> Tensor:
    counts = shape_of(times)
    shape = (1,) * (len(counts) - a.ndim) + a.shape
    apart = [size for one in shape for size in (1, one)]
    wide = [size for pair in zip(counts, shape, strict=True) for size in pair]
    return a.reshape(apart).expand(wide).reshape([count * size for count, size in zip(counts, shape, strict=True)]).contiguous()


tile = repeat


@method()
def repeat_interleave(a: Tensor, repeats: Any, dim: int | None = None, output_size: int | None = None) -> Tensor:
    a, dim = (a.reshape(-1), 0) if dim is None else (a, dim)
    places = np.repeat(np.arange(a.shape[dim]), values_of(repeats))
    return index_select(a, dim, tensor_of(places.astype(np.int64)))


# Picking and putting


def along(dim: int, index: np.ndarray) -> tuple[np.ndarray, ...]:
    """The NumPy index that takes `index` along one dimension, and each place along the others."""
    places = [
        np.arange(size).reshape([-1 if axis == each else 1 for each in range(index.ndim)])
        for axis, size in enumerate(index.shape)
    ]
    places[dim % index.ndim] = index
    return tuple(places)


@method()
def index_select(a: Tensor, dim: int, index: Tensor) -> Tensor:
    return a[(slice(None),) * (dim % a.ndim) + (index,)]


@method()
def gather(a: Tensor, dim: int, index: Tensor) -> Tensor:
    return a[along(dim, values_of(index))]


@method()
def take_along_dim(a: Tensor, indices: Tensor, dim: int) -> Tensor:
    return gather(a, dim, indices)


@method()
def scatter_(a: Tensor, dim: int, index: Tensor, src: Any = None, value: Any = None) -> Tensor:
    src, places = value if src is None else src, values_of(index)
    a[along(dim, places)] = src[tuple(slice(0, size) for size in places.shape)] if isinstance(src, Tensor) else src
    return a


@method()
def scatter(a: Tensor, dim: int, index: Tensor, src: Any = None, value: Any = None) -> Tensor:
    return a.clone().scatter_(dim, index, src, value)


@method()
def scatter_add_(a: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    places, values = values_of(index), values_of(a).copy()
    np.add.at(values, along(dim, places), values_of(src)[tuple(slice(0, size) for size in places.shape)])
    return a.copy_(tensor_of(values, a.dtype))


@method()
def index_add_(a: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any = 1) -> Tensor:
    values = values_of(a).copy()
    np.add.at(values, (slice(None),) * (dim % a.ndim) + (values_of(index),), values_of(source) * alpha)
    return a.copy_(tensor_of(values, a.dtype))


@method()
def index_add(a: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any = 1) -> Tensor:
    return a.clone().index_add_(dim, index, source, alpha)


@method()
def index_put_(a: Tensor, indices: Sequence[Tensor], values: Any, accumulate: bool = False) -> Tensor:
    if not accumulate:
        a[tuple(indices)] = values
        return a
    total = values_of(a).copy()
    np.add.at(total, tuple(values_of(index) for index in indices), values_of(values))
    return a.copy_(tensor_of(total, a.dtype))


@method()
def fill_diagonal_(a: Tensor, value: Any) -> Tensor:
    np.fill_diagonal(a._array, encoded(np.asarray(value), a.dtype))
    return a


@method()
def masked_select(a: Tensor, mask: Tensor) -> Tensor:
    return a[mask]


@method()
def nonzero(a: Tensor, as_tuple: bool = False) -> Any:
    places = [axis.astype(np.int64) for axis in np.nonzero(values_of(a))]
    return tuple(map(tensor_of, places)) if as_tuple else tensor_of(np.stack(places, -1))


# Order and counts


@method()
def sort(a: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Pair:
    values = values_of(a)
    order = np.argsort(-values if descending and values.dtype != bool else values, axis=dim, kind="stable")
    places = tensor_of(order.astype(np.int64))
    return Pair(a.gather(dim, places), places)  # type: ignore[attr-defined]


@method()
def argsort(a: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    return sort(a, dim, descending)[1]


@method()
def topk(a: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    return Pair(*(part.narrow(dim, 0, k) for part in sort(a, dim, largest)))


@method()
def unique(
    a: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    found, inverse, counts = np.unique(values_of(a), return_inverse=True, return_counts=True, axis=dim)
    parts = [tensor_of(found, a.dtype)]
    parts += [tensor_of(np.asarray(inverse).astype(np.int64))] if return_inverse else []
    parts += [tensor_of(np.asarray(counts).astype(np.int64))] if return_counts else []
    return parts[0] if len(parts) == 1 else tuple(parts)


@method()
def bincount(a: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    counts = np.bincount(values_of(a).reshape(-1), None if weights is None else values_of(weights), minlength)
    return tensor_of(counts.astype(np.int64) if weights is None else counts)


@method()
def histc(a: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    values = values_of(a).reshape(-1)
    low, high = (values.min(), values.max()) if min == max else (min, max)
    values = values[(values >= low) & (values <= high)].astype(np.float64)
    places = np.minimum(((values - low) / (high - low) * bins).astype(np.int64), bins - 1)
    return tensor_of(np.bincount(places, minlength=bins), a.dtype)


@method()
def diff(a: Tensor, n: int = 1, dim: int = -1) -> Tensor:
    return tensor_of(np.diff(values_of(a), n, dim), a.dtype)


def segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor, axis: int = 0, **options: Any) -> Tensor:
    compute = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}[reduce]
    ends = np.cumsum([0, *lengths.tolist()])
    return tensor_of(np.stack([compute(values_of(data)[i:j], axis=0) for i, j in zip(ends, ends[1:], strict=False)]), data.dtype)


def broadcast_shapes(*shapes: Any) -> Size:
    try:
        return Size(np.broadcast_shapes(*(shape if isinstance(shape, tuple) else (shape,) for shape in shapes)))
    except ValueError:
        raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape") from None


def broadcast_tensors(*tensors: Tensor) -> tuple:
    shape = broadcast_shapes(*(one.shape for one in tensors))
    return tuple(one.expand(shape) for one in tensors)
