"""Tensors: a dtype, a shape and strides over a storage, as a NumPy view of its bytes; views of them, copies, changes in place.

What is computed with them stands in _pointwise, _reductions, _products and _movement, which add their functions as methods.
"""

import difflib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from torch import _autograd, _dispatch
from torch._autograd import recorded
from torch._dtypes import (
    BOOL,
    FLOAT,
    INT,
    OF_NUMPY,
    bfloat16,
    boolean,
    decoded,
    dtype,
    dtype_of_number,
    encoded,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    promoted,
    uint8,
)
from torch._settings import settings
from torch._storage import CPU, META, Size, Storage, check_device, contiguous_strides, dimensions, shape_of

NOT_A_VIEW = (
    "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
    "subspaces). Use .reshape(...) instead."
)
LEAF_CHANGED = "a leaf Variable that requires grad is being used in an in-place operation."
as_strided = np.lib.stride_tricks.as_strided


def values_of(value: Any) -> Any:
    """The NumPy values of a tensor; anything else as it is."""
    return decoded(value._array, value.dtype) if isinstance(value, Tensor) else value


def operand(value: Any, kind: dtype) -> np.ndarray:
    """The NumPy values that an operation with this result dtype computes with."""
    return np.asarray(values_of(value)).astype(kind.computed, copy=False)


def tensor_of(values: Any, kind: dtype | None = None) -> "Tensor":
    """A new tensor with the values of a NumPy array, laid out as NumPy laid it out."""
    values = np.asarray(values)
    kind = kind or OF_NUMPY[values.dtype]
    return tensor_of_bits(encoded(values, kind), kind)


def tensor_of_bits(bits: np.ndarray, kind: dtype) -> "Tensor":
    strides = None
    if not bits.flags.c_contiguous:
        strides = [step // kind.itemsize for step in np.empty_like(bits).strides]
    made = Tensor(Storage(bits.size * kind.itemsize), 0, bits.shape, strides, kind)
    made._array[...] = bits
    return made


def meta_tensor(shape: Sequence[int], kind: dtype) -> "Tensor":
    """A tensor without elements: its shape, and one zero that stands for all."""
    return Tensor(Storage(kind.itemsize, meta=True), 0, shape, [0] * len(shape), kind)


def result_type(*values: Any) -> dtype:
    """The dtype of a result: tensors decide, then tensors without dimensions, then numbers, each only beyond its own kind."""
    best: list[dtype | None] = [None, None, None]
    for value in values:
        rank = (0 if value.ndim else 1) if isinstance(value, Tensor) else 2
        best[rank] = promoted(best[rank], value.dtype if isinstance(value, Tensor) else dtype_of_number(value))
    found = best[0]
    for other in best[1:]:
        if other and (found is None or other.kind > found.kind):
            found = other
    assert found is not None
    return found


def view(name: str, see: Callable, back: Callable) -> Callable:
    """A method that gives a view: `see` of the NumPy array, and `back` from a gradient and the shape that there was."""

    @_dispatch.operation(name.lower(), is_view=True)
    def method(self: "Tensor", *given: Any) -> "Tensor":
        shape = self.shape
        return recorded(name, self._over(see(self._array, *given)), (self,), lambda g: (back(g, shape, *given),))

    return method


class Tensor:
    is_cuda = is_sparse = is_quantized = is_nested = False
    layout, names = "torch.strided", None
    grad: Any = None
    requires_grad = False
    _node: Any = None
    _output_number = 0
    _leaf: Any = None
    _leaf_hooks: tuple = ()
    __array_priority__ = 1000

    def __init__(self, storage: Storage, offset: int, shape: Sequence[int], strides: Sequence[int] | None, kind: dtype):
        self._storage, self._offset, self.dtype = storage, offset, kind
        strides, size = contiguous_strides(shape) if strides is None else strides, kind.itemsize
        begin = offset * size if math.prod(shape) else 0
        self._array: np.ndarray = np.ndarray(tuple(shape), kind.stored, storage.buf, begin, [step * size for step in strides])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        near = difflib.get_close_matches(name, [known for known in dir(Tensor) if known[0] != "_"])
        hint = f" There is {', '.join(near)}." if near else ""
        raise AttributeError(f"The stand-in for PyTorch in this page has no Tensor.{name}.{hint}")

    __hash__ = object.__hash__

    # What the interpreter asks of a tensor, and other facts

    def data_ptr(self) -> int:
        return self._storage.data_ptr() + self._offset * self.dtype.itemsize

    def untyped_storage(self) -> Storage:
        return self._storage

    def storage_offset(self) -> int:
        return self._offset

    def element_size(self) -> int:
        return self.dtype.itemsize

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self._array.shape[dim]

    def stride(self, dim: int | None = None) -> Any:
        strides = tuple(step // self.dtype.itemsize for step in self._array.strides)
        strides = contiguous_strides(self.shape) if self._storage.meta else strides
        return strides if dim is None else strides[dim]

    def dim(self) -> int:
        return self._array.ndim

    def numel(self) -> int:
        return self._array.size

    nelement = numel

    def is_contiguous(self, memory_format: Any = None) -> bool:
        return self._array.flags.c_contiguous or self._array.size == 0 or self._storage.meta

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def get_device(self) -> int:
        return -1

    def is_neg(self) -> bool:
        return False

    is_conj = is_inference = is_neg

    def resolve_neg(self) -> "Tensor":
        return self

    resolve_conj = resolve_neg

    shape = property(lambda self: Size(self._array.shape))
    ndim = property(lambda self: self._array.ndim)
    nbytes = property(lambda self: self._array.size * self.dtype.itemsize)
    itemsize = property(lambda self: self.dtype.itemsize)
    device = property(lambda self: META if self._storage.meta else CPU)
    is_meta = property(lambda self: self._storage.meta)
    is_leaf = property(lambda self: self._node is None)
    grad_fn = property(lambda self: self._node)
    _version = property(lambda self: self._storage.version)
    data = property(lambda self: self.detach())

    # Making others like it

    def new_empty(self, *shape: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> "Tensor":
        kind, sizes = dtype or self.dtype, shape_of(shape)
        check_device(device)
        return Tensor(Storage(math.prod(sizes) * kind.itemsize), 0, sizes, None, kind).requires_grad_(requires_grad)

    new_zeros = new_empty

    def new_full(self, shape: Any, value: Any, **named: Any) -> "Tensor":
        return self.new_empty(shape, **named).fill_(value)

    def new_ones(self, *shape: Any, **named: Any) -> "Tensor":
        return self.new_empty(*shape, **named).fill_(1)

    def new_tensor(self, values: Any, dtype: Any = None) -> "Tensor":
        return tensor_of(np.asarray(values_of(values)), dtype or self.dtype)

    def set_(self, storage: Storage, offset: int = 0, size: Any = None, stride: Any = None) -> "Tensor":
        size = (len(storage.buf) // self.dtype.itemsize,) if size is None else size
        Tensor.__init__(self, storage, offset, size, stride, self.dtype)
        return self

    def as_subclass(self, kind: type) -> Any:
        made = object.__new__(kind)
        made.__dict__.update(self.__dict__)
        return made

    # Gradients

    def requires_grad_(self, on: bool = True) -> "Tensor":
        if on and self.dtype.kind < FLOAT:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self.requires_grad = on
        return self

    def retain_grad(self) -> None:
        def keep(gradient: "Tensor") -> None:
            self.grad = gradient if self.grad is None else self.grad + gradient

        self.register_hook(keep)

    def register_hook(self, hook: Callable) -> None:
        if self._node is None:
            self._leaf_hooks = (*self._leaf_hooks, hook)
            return
        node, number, pull = self._node, self._output_number, self._node._pull

        def hooked(gradients: list[Any]) -> Sequence[Any]:
            gradients = list(gradients)
            if gradients[number] is not None:
                changed = hook(gradients[number])
                gradients[number] = gradients[number] if changed is None else changed
            return pull(gradients)

        node._pull = hooked

    def backward(self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False) -> None:
        _autograd.backward(self, gradient, retain_graph, create_graph)

    def detach(self) -> "Tensor":
        strides = [step // self.dtype.itemsize for step in self._array.strides]
        return Tensor(self._storage, self._offset, self._array.shape, strides, self.dtype)

    def detach_(self) -> "Tensor":
        self._node, self.requires_grad = None, False
        return self

    # Views

    def _over(self, array: np.ndarray) -> "Tensor":
        """A tensor over a NumPy view of this one."""
        size = self.dtype.itemsize
        offset = (array.__array_interface__["data"][0] - self._storage.buf.__array_interface__["data"][0]) // size
        return Tensor(
            self._storage, offset if array.size else 0, array.shape, [step // size for step in array.strides], self.dtype
        )

    def _over_or_copy(self, array: np.ndarray) -> "Tensor":
        """The same, or a new tensor if NumPy had to copy."""
        return self._over(array) if np.may_share_memory(array, self._storage.buf) else tensor_of_bits(array, self.dtype)

    t = view("T", lambda a: a.T, lambda g, shape: g.t())
    T = property(t)
    mT = mH = property(lambda self: self.transpose(-2, -1))
    H = mH
    transpose = view("Transpose", lambda a, i, j: a.swapaxes(i, j), lambda g, shape, i, j: g.transpose(i, j))
    swapaxes = swapdims = transpose
    unsqueeze = view("Unsqueeze", lambda a, dim: np.expand_dims(a, dim), lambda g, shape, dim: g.squeeze(dim))
    _permuted = view(
        "Permute",
        lambda a, order: a.transpose(order),
        lambda g, shape, order: g.permute([order.index(i) for i in range(len(order))]),
    )
    _expanded = view(
        "Expand", lambda a, shape: as_strided(np.broadcast_to(a, shape), shape), lambda g, before, shape: g.sum_to_size(before)
    )

    def permute(self, *order: Any) -> "Tensor":
        return self._permuted(tuple(dim % max(self.ndim, 1) for dim in shape_of(order)))

    def movedim(self, source: Any, destination: Any) -> "Tensor":
        if not self.ndim:
            return self
        sources, places = dimensions(source, self.ndim) or (), dimensions(destination, self.ndim) or ()
        order = [dim for dim in range(self.ndim) if dim not in sources]
        for place, dim in sorted(zip(places, sources, strict=True)):
            order.insert(place, dim)
        return self.permute(order)

    moveaxis = movedim

    def as_strided(self, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> "Tensor":
        offset = self._offset if storage_offset is None else storage_offset
        return Tensor(self._storage, offset, tuple(size), tuple(stride), self.dtype)

    @_dispatch.operation("squeeze", is_view=True)
    def squeeze(self, dim: Any = None) -> "Tensor":
        among = range(self.ndim) if dim is None else dimensions(dim, self.ndim) or ()
        shape, gone = self.shape, tuple(each for each in among if self.shape[each] == 1)
        return recorded("Squeeze", self._over(self._array.squeeze(gone)), (self,), lambda g: (g.reshape(shape),))

    def expand(self, *shape: Any) -> "Tensor":
        sizes = shape_of(shape)
        lead = len(sizes) - self.ndim
        return self._expanded(tuple(self.shape[i - lead] if size == -1 else size for i, size in enumerate(sizes)))

    broadcast_to = expand

    def expand_as(self, other: "Tensor") -> "Tensor":
        return self.expand(other.shape)

    @_dispatch.operation("view", is_view=True)
    def reshape(self, *shape: Any) -> "Tensor":
        before, array = self.shape, self._array.reshape(shape_of(shape))
        return recorded("View", self._over_or_copy(array), (self,), lambda g: (g.reshape(before),))

    @_dispatch.operation("view", is_view=True)
    def view(self, *shape: Any) -> "Tensor":
        if isinstance(shape[0], dtype):
            return self._bits_as(shape[0])
        before, array = self.shape, self._array.reshape(shape_of(shape))
        if array.size and not np.may_share_memory(array, self._array):
            raise RuntimeError(NOT_A_VIEW)
        return recorded("View", self._over_or_copy(array), (self,), lambda g: (g.reshape(before),))

    def _bits_as(self, kind: dtype) -> "Tensor":
        size = self.dtype.itemsize
        if kind.itemsize == size:
            return Tensor(self._storage, self._offset, self.shape, self.stride(), kind)
        last = self.shape[-1] * size // kind.itemsize
        strides = [step * size // kind.itemsize for step in self.stride()[:-1]] + [1]
        return Tensor(self._storage, self._offset * size // kind.itemsize, (*self.shape[:-1], last), strides, kind)

    def view_as(self, other: "Tensor") -> "Tensor":
        return self.view(other.shape)

    def reshape_as(self, other: "Tensor") -> "Tensor":
        return self.reshape(other.shape)

    def ravel(self) -> "Tensor":
        return self.reshape(-1)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> "Tensor":
        if not self.ndim:
            return self.reshape(1)
        first, last = start_dim % self.ndim, end_dim % self.ndim
        return self.reshape(*self.shape[:first], math.prod(self.shape[first : last + 1]), *self.shape[last + 1 :])

    def unflatten(self, dim: int, sizes: Sequence[int]) -> "Tensor":
        dim = dim % self.ndim
        return self.reshape(*self.shape[:dim], *sizes, *self.shape[dim + 1 :])

    def narrow(self, dim: int, start: int, length: int) -> "Tensor":
        return self[(slice(None),) * (dim % self.ndim) + (slice(start, start + length),)]

    def select(self, dim: int, index: int) -> "Tensor":
        return self[(slice(None),) * (dim % self.ndim) + (index,)]

    def split(self, split_size: Any, dim: int = 0) -> tuple:
        size = self.shape[dim]
        given = isinstance(split_size, int)
        sizes = [min(split_size, size - start) for start in range(0, size, split_size)] if given else list(split_size)
        starts = [sum(sizes[:number]) for number in range(len(sizes))]
        return tuple(self.narrow(dim, start, length) for start, length in zip(starts, sizes, strict=True))

    def chunk(self, chunks: int, dim: int = 0) -> tuple:
        return self.split(-(-self.shape[dim] // chunks), dim)

    def unbind(self, dim: int = 0) -> tuple:
        return tuple(self.select(dim, index) for index in range(self.shape[dim]))

    def unfold(self, dim: int, size: int, step: int) -> "Tensor":
        windows = np.lib.stride_tricks.sliding_window_view(self._array, size, dim)
        return self._over(windows[(slice(None),) * (dim % self.ndim) + (slice(None, None, step),)])

    def diagonal(self) -> "Tensor":
        return self._over(self._array.diagonal())

    def __iter__(self) -> Iterator["Tensor"]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    @_dispatch.operation("index", is_view=True)
    def __getitem__(self, index: Any) -> "Tensor":
        index = numpy_index(index)
        array = self._array[index]
        if not isinstance(array, np.ndarray):  # one element
            array = self._array[(*index, ...)] if isinstance(index, tuple) else self._array[index, ...]
        shape = self.shape
        return recorded("Index", self._over_or_copy(array), (self,), lambda g: (spread(g, shape, index),))

    # Copies and other dtypes

    @_dispatch.operation("clone")
    def clone(self, memory_format: Any = None) -> "Tensor":
        if self._storage.meta:
            return meta_tensor(self.shape, self.dtype)
        return recorded("Clone", tensor_of_bits(self._array.copy(order="K"), self.dtype), (self,), lambda g: (g,))

    def contiguous(self, memory_format: Any = None) -> "Tensor":
        return self if self.is_contiguous() else self._made_contiguous()

    @_dispatch.operation("clone")
    def _made_contiguous(self) -> "Tensor":
        return recorded("Clone", tensor_of_bits(np.ascontiguousarray(self._array), self.dtype), (self,), lambda g: (g,))

    def to(self, *given: Any, dtype: Any = None, device: Any = None, copy: bool = False, non_blocking: bool = False) -> "Tensor":
        for value in given:
            if isinstance(value, Tensor):
                dtype = value.dtype
            elif isinstance(value, type(self.dtype)):
                dtype = value
            else:
                check_device(value)
        check_device(device)
        if dtype in (None, self.dtype):
            return self.clone() if copy else self
        return self._converted(dtype)

    @_dispatch.operation("_to_copy")
    def _converted(self, kind: dtype) -> "Tensor":
        if self._storage.meta:
            return meta_tensor(self.shape, kind)
        values = values_of(self)
        return recorded("ToCopy", tensor_of(values != 0 if kind.kind == BOOL else values, kind), (self,), lambda g: (g,))

    def type_as(self, other: "Tensor") -> "Tensor":
        return self.to(other.dtype)

    def type(self, dtype: Any = None) -> Any:
        return self.to(dtype) if dtype is not None else "torch.FloatTensor"

    def cpu(self) -> "Tensor":
        return self

    def pin_memory(self, *_: Any) -> "Tensor":
        return self

    def record_stream(self, *_: Any) -> None:
        pass

    def cuda(self, *_: Any) -> "Tensor":
        check_device("cuda")
        return self

    def numpy(self) -> np.ndarray:
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return values_of(self)

    def item(self) -> Any:
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return values_of(self).item()

    def tolist(self) -> Any:
        return values_of(self).tolist()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.numpy(), dtype)

    def __len__(self) -> int:
        return self._array.shape[0]

    def __contains__(self, value: Any) -> Any:
        return bool((self == value).any())  # type: ignore[attr-defined]

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.ndim else object.__format__(self, spec)

    def __repr__(self) -> str:
        from torch._printing import shown

        return shown(self)

    def __deepcopy__(self, memo: Any) -> "Tensor":
        return self.detach().clone().requires_grad_(self.requires_grad)

    def __float__(self) -> Any:
        return float(self.item())

    def __int__(self) -> Any:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> Any:
        if self.dtype.kind > INT or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __bool__(self) -> Any:
        if self.numel() != 1:
            which = "no values" if not self.numel() else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {which} is ambiguous")
        return self.item() != 0

    # Changes in place

    def _before_change(self) -> None:
        if self.requires_grad and self._node is None and settings.grad:
            raise RuntimeError(LEAF_CHANGED)
        self._storage.version += 1

    def _changed_by(self, name: str, inputs: Sequence[Any], back: Callable) -> "Tensor":
        """From here on this tensor is the output of what changed it."""
        if settings.grad and any(isinstance(value, Tensor) and value.requires_grad for value in inputs):
            node = _autograd.node_type(f"{name}Backward0")(inputs, back)
            node._outputs_told[0] = (self.shape, self.dtype)
            self.requires_grad, self._node, self._output_number = True, node, 0
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        self._before_change()
        index = numpy_index(index)
        self._array[index] = encoded(values_of(value), self.dtype)

        def back(g: "Tensor") -> tuple:
            mine = g.clone()
            mine.detach()[tensor_index(index)] = 0
            return mine, (lambda: g[tensor_index(index)]) if isinstance(value, Tensor) else None

        self._changed_by("CopySlices", (self, value), back)

    def copy_(self, other: Any, non_blocking: bool = False) -> "Tensor":
        self._before_change()
        self._array[...] = encoded(values_of(other), self.dtype)
        return self._changed_by("Copy", (self, other), lambda g: (lambda: g * 0, g))

    def fill_(self, value: Any) -> "Tensor":
        self._before_change()
        self._array[...] = encoded(values_of(value), self.dtype)
        return self._changed_by("Fill", (self,), lambda g: (g * 0,))

    def zero_(self) -> "Tensor":
        return self.fill_(0)


def add_conversions() -> None:
    kinds = {"float": float32, "double": float64, "half": float16, "bfloat16": bfloat16, "int": int32, "long": int64}
    kinds |= {"short": int16, "char": int8, "byte": uint8, "bool": boolean}
    for name, kind in kinds.items():
        setattr(Tensor, name, lambda self, kind=kind: self.to(kind))


add_conversions()


def numpy_index(index: Any) -> Any:
    """An index with NumPy's arrays in the place of tensors."""

    def one(part: Any) -> Any:
        if isinstance(part, Tensor):
            return part._array.item() if not part.ndim and part.dtype.kind == INT else part._array
        return np.asarray(part) if isinstance(part, list) else part

    return tuple(one(part) for part in index) if isinstance(index, tuple) else one(index)


def tensor_index(index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    found = tuple(tensor_of(part) if isinstance(part, np.ndarray) else part for part in parts)
    return found if isinstance(index, tuple) else found[0]


def spread(gradient: Tensor, shape: Sequence[int], index: Any) -> Tensor:
    """The gradient of what was indexed: zero, but for the elements that the index took, each as often as it was taken."""
    values = np.zeros(shape, gradient.dtype.computed)
    np.add.at(values, index, values_of(gradient))
    return recorded("IndexPut", tensor_of(values, gradient.dtype), (gradient,), lambda g: (g[tensor_index(index)],))
