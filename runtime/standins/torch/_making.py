"""New tensors: empty, full of one value, numbered, from Python's and NumPy's values."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch._dtypes import BY_BITS, FLOAT, OF_NUMPY, complex64, default_dtype, dtype, dtype_of_number, float32, int64, promoted
from torch._storage import Storage, check_device, dense_strides, shape_of
from torch._tensor import Tensor, meta_tensor, tensor_of, values_of

Dtype = dtype  # the arguments are called so, too
MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last")


def made(values: Any, kind: dtype | None, device: Any = None, requires_grad: bool = False) -> Tensor:
    check_device(device)
    return tensor_of(values, kind).requires_grad_(requires_grad)


def empty(
    *shape: Any, size: Any = None, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False, memory_format: Any = None, layout: Any = None, out: Any = None,
) -> Tensor:  # fmt: skip
    """Memory starts as zeros here; a program must not rely on that."""
    sizes, kind = shape_of(shape) if size is None else tuple(size), dtype or default_dtype()
    if check_device(device):
        return meta_tensor(sizes, kind).requires_grad_(requires_grad)
    return Tensor(Storage(math.prod(sizes) * kind.itemsize), 0, sizes, None, kind).requires_grad_(requires_grad)


zeros = empty


def full(size: Any, fill_value: Any, *, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    sizes = (size,) if isinstance(size, int) else size
    return empty(sizes, dtype=dtype or dtype_of_number(value), device=device).fill_(value).requires_grad_(requires_grad)


def ones(*size: Any, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    return full(shape_of(size), 1.0, dtype=dtype or default_dtype(), device=device, requires_grad=requires_grad)


def empty_like(
    t: Tensor, *, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Tensor:
    kind = dtype or t.dtype
    if check_device(device) or t.is_meta:
        return meta_tensor(t.shape, kind).requires_grad_(requires_grad)
    strides = None if memory_format == "contiguous_format" else dense_strides(t.shape, t.stride())
    return Tensor(Storage(t.numel() * kind.itemsize), 0, t.shape, strides, kind).requires_grad_(requires_grad)


zeros_like = empty_like


def full_like(t: Tensor, fill_value: Any, *, requires_grad: bool = False, **named: Any) -> Tensor:
    return empty_like(t, **named).fill_(fill_value).requires_grad_(requires_grad)


def ones_like(t: Tensor, **named: Any) -> Tensor:
    return full_like(t, 1, **named)


def empty_strided(size: Sequence[int], stride: Sequence[int], dtype: Dtype | None = None, device: Any = None) -> Tensor:
    check_device(device)
    kind = dtype or default_dtype()
    elements = sum((count - 1) * step for count, step in zip(size, stride, strict=True)) + 1
    return Tensor(Storage(elements * kind.itemsize), 0, tuple(size), tuple(stride), kind)


def arange(*ends: Any, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    given = [end.item() if isinstance(end, Tensor) else end for end in ends]
    whole = all(isinstance(end, int | np.integer) for end in given)
    values = np.arange(*given, dtype=np.int64 if whole else np.float64)
    return made(values, dtype or (int64 if whole else default_dtype()), device, requires_grad)


def linspace(
    start: float, end: float, steps: int, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    return made(np.linspace(start, end, steps), dtype or default_dtype(), device, requires_grad)


def logspace(start: float, end: float, steps: int, base: float = 10.0, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    return made(np.logspace(start, end, steps, base=base), dtype or default_dtype(), device)


def eye(n: int, m: int | None = None, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    return made(np.eye(n, m), dtype or default_dtype(), device)


# From values


def dtype_of_values(values: Any) -> Dtype | None:
    if isinstance(values, Tensor):
        return values.dtype
    if isinstance(values, np.ndarray | np.generic):
        return OF_NUMPY[values.dtype]
    if isinstance(values, list | tuple):
        return functools.reduce(promoted, (dtype_of_values(one) for one in values), None)
    return dtype_of_number(values)


def plain(values: Any) -> Any:
    """Nested lists of Python's numbers."""
    if isinstance(values, list | tuple):
        return [plain(one) for one in values]
    return np.asarray(values_of(values)).tolist() if isinstance(values, Tensor) else values


def tensor(data: Any, *, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    kind = dtype or dtype_of_values(data) or default_dtype()
    values = plain(data) if isinstance(data, list | tuple) else values_of(data)
    # Whole numbers as 64 bits, which is not what NumPy takes in a browser.
    within = kind.computed if kind.kind >= FLOAT else np.int64 if kind.stored.kind in "iu" and kind.itemsize < 8 else kind.stored
    return made(np.array(values, within), kind, device, requires_grad)


def as_tensor(data: Any, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    if isinstance(data, Tensor):
        return data.to(dtype) if dtype else data
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(array: np.ndarray) -> Tensor:
    """PyTorch shares the array's memory; here the values are copied."""
    return tensor_of(array)


# Grids and complex numbers


def meshgrid(*tensors: Tensor, indexing: str = "ij") -> tuple:
    return tuple(tensor_of(one) for one in np.meshgrid(*(values_of(each) for each in tensors), indexing=indexing))  # type: ignore[call-overload]


def tril_indices(row: int, col: int, offset: int = 0) -> Tensor:
    return tensor_of(np.stack(np.tril_indices(row, offset, col)).astype(np.int64))


def unravel_index(indices: Tensor, shape: Sequence[int]) -> tuple:
    return tuple(tensor_of(np.asarray(axis).astype(np.int64)) for axis in np.unravel_index(values_of(indices), tuple(shape)))


def complex(real: Tensor, imag: Tensor) -> Tensor:
    return tensor_of((values_of(real) + 1j * values_of(imag)).astype(np.complex64))


def polar(radius: Tensor, angle: Tensor) -> Tensor:
    return tensor_of((values_of(radius) * np.exp(1j * values_of(angle))).astype(np.complex64))


def view_as_complex(t: Tensor) -> Tensor:
    return Tensor(t._storage, t._offset // 2, t.shape[:-1], [step // 2 for step in t.stride()[:-1]], complex64)


def view_as_real(t: Tensor) -> Tensor:
    return Tensor(t._storage, t._offset * 2, (*t.shape, 2), [*(step * 2 for step in t.stride()), 1], float32)


# What a dtype can hold


class finfo:
    def __init__(self, of: Dtype | None = None):
        kind = of or default_dtype()
        self.dtype, self.bits = kind.name, kind.itemsize * 8
        if kind in BY_BITS:
            limits = {"bfloat16": (3.3895313892515355e38, 2.0**-7, 2.0**-126), "float8_e4m3fn": (448.0, 0.125, 2.0**-6)}
            self.max, self.eps, self.tiny = limits.get(kind.name, (57344.0, 0.25, 2.0**-14))
        else:
            told = np.finfo(kind.stored)
            self.max, self.eps, self.tiny = float(told.max), float(told.eps), float(told.tiny)
        self.min, self.smallest_normal = -self.max, self.tiny


class iinfo:
    def __init__(self, of: Dtype):
        told = np.iinfo(of.stored)
        self.dtype, self.min, self.max, self.bits = of.name, int(told.min), int(told.max), told.bits
