"""Where the elements of tensors lie: devices, storages with addresses, shapes and strides."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from triton._C.libtriton import memory

NO_CUDA = "No CUDA device in this page: the kernels run in Triton's interpreter on the CPU."


class device:
    def __init__(self, type: Any = "cpu", index: int | None = None):
        name, _, number = str(getattr(type, "type", type)).partition(":")
        self.type, self.index = name, int(number) if number else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}')"

    def __str__(self) -> str:
        return self.type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and self.type == other.type

    def __hash__(self) -> int:
        return hash(self.type)

    def __enter__(self) -> "device":
        return self

    def __exit__(self, *error: object) -> None:
        pass


CPU, META = device("cpu"), device("meta")


def check_device(wanted: Any) -> bool:
    """Refuse a GPU; say whether the tensors are to have no elements at all."""
    kind = device(wanted).type if isinstance(wanted, str | device) else "cpu"
    if kind == "cuda":
        raise RuntimeError(NO_CUDA)
    return kind == "meta"


class Storage:
    """Bytes. They get an address when somebody asks for it, and give it back at the end. On `meta` one element stands for all."""

    def __init__(self, size: int, meta: bool = False):
        self.buf = np.zeros(size + 8, np.uint8)[:size]
        self.version, self.meta, self._address = 0, meta, None

    def data_ptr(self) -> int:
        if self._address is None:
            self._address = memory.register(self.buf)
        return self._address

    def __del__(self) -> None:
        if self._address is not None and memory is not None:  # None while Python ends
            memory.release(self._address)

    def cpu(self) -> "Storage":
        return self

    def nbytes(self) -> int:
        return self.buf.size

    size = __len__ = nbytes

    def copy_(self, other: "Storage") -> "Storage":
        if other is not self:
            self.buf[:] = other.buf
        return self


class Size(tuple):
    def numel(self) -> int:
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> "Size":
        return Size(tuple(self) + tuple(other))


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def dense_strides(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """A layout without gaps in the order of the given strides, as PyTorch gives it to a tensor made like another one."""
    order = list(range(len(shape)))[::-1]
    for start in range(1, len(order)):
        moving = start
        for before in range(start - 1, -1, -1):
            left, right = strides[order[before]], strides[order[moving]]
            if not left or not right or (left == right and shape[order[before]] <= shape[order[moving]]):
                continue
            if left < right:
                break
            order[before], order[moving] = order[moving], order[before]
            moving = before
    found, step = [0] * len(shape), 1
    for dim in order:
        found[dim], step = step, step * max(shape[dim], 1)
    return found


def shape_of(given: Sequence[Any]) -> tuple[int, ...]:
    """The shape that `f(2, 3)` and `f((2, 3))` mean alike."""
    if len(given) == 1 and isinstance(given[0], tuple | list):
        given = given[0]
    return tuple(int(size) for size in given)


def dimensions(dim: Any, ndim: int) -> tuple[int, ...] | None:
    """The dimensions that an argument `dim` means, counted from the front, or None for all."""
    if dim is None:
        return None
    if isinstance(dim, tuple | list):
        return tuple(each % max(ndim, 1) for each in dim) or None
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        first, last = -max(ndim, 1), max(ndim, 1) - 1
        raise IndexError(f"Dimension out of range (expected to be in range of [{first}, {last}], but got {dim})")
    return (dim % max(ndim, 1),) if ndim else None
