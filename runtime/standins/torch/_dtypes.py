"""The dtypes: how each is stored in NumPy, what it is computed in, and which one comes out where two meet.

NumPy has no bfloat16 and no 8-bit floats. They are stored as their bits and computed as float32; float16 is computed so, too, as
PyTorch does on a CPU, and rounded at the end of each operation.
"""

from typing import Any

import numpy as np
from torch._settings import settings

BOOL, INT, FLOAT, COMPLEX = range(4)  # the kinds, in the order in which they win


class dtype:
    def __init__(self, name: str, stored: str, kind: int, computed: str | None = None):
        self.name, self.stored, self.kind = name, np.dtype(stored), kind
        self.computed = np.dtype(computed or stored)
        self.itemsize = self.stored.itemsize
        self.is_floating_point, self.is_complex = kind == FLOAT, kind == COMPLEX
        self.is_signed = kind >= FLOAT or (kind == INT and self.stored.kind == "i")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


float64 = dtype("float64", "f8", FLOAT)
float32 = dtype("float32", "f4", FLOAT)
float16 = dtype("float16", "f2", FLOAT, "f4")
bfloat16 = dtype("bfloat16", "u2", FLOAT, "f4")
float8_e4m3fn = dtype("float8_e4m3fn", "u1", FLOAT, "f4")
float8_e5m2 = dtype("float8_e5m2", "u1", FLOAT, "f4")
int64 = dtype("int64", "i8", INT)
int32 = dtype("int32", "i4", INT)
int16 = dtype("int16", "i2", INT)
int8 = dtype("int8", "i1", INT)
uint8 = dtype("uint8", "u1", INT)
uint16 = dtype("uint16", "u2", INT)
uint32 = dtype("uint32", "u4", INT)
uint64 = dtype("uint64", "u8", INT)
boolean = dtype("bool", "?", BOOL)
complex64 = dtype("complex64", "c8", COMPLEX)
complex128 = dtype("complex128", "c16", COMPLEX)

DTYPES: dict[str, dtype] = {found.name: found for found in list(vars().values()) if isinstance(found, dtype)}
BY_BITS = (bfloat16, float8_e4m3fn, float8_e5m2)
OF_NUMPY = {found.stored: found for found in DTYPES.values() if found not in BY_BITS}


def default_dtype() -> dtype:
    return DTYPES[settings.dtype]


# From values to what is stored, and back


def values_of_8bit() -> dict[dtype, np.ndarray]:
    """The 256 values of each 8-bit float."""
    found, bits = {}, np.arange(256)
    for kind, exponent_bits, mantissa_bits in ((float8_e4m3fn, 4, 3), (float8_e5m2, 5, 2)):
        exponent, mantissa = (bits >> mantissa_bits) & (2**exponent_bits - 1), bits & (2**mantissa_bits - 1)
        bias = 2 ** (exponent_bits - 1) - 1
        part = mantissa / 2**mantissa_bits
        value = np.where(exponent == 0, part * 2.0 ** (1 - bias), (1 + part) * 2.0 ** (exponent - bias))
        if kind is float8_e4m3fn:
            value[(bits & 127) == 127] = np.nan
        else:
            value = np.where(exponent == 31, np.where(mantissa == 0, np.inf, np.nan), value)
        found[kind] = np.where(bits >> 7, -value, value).astype(np.float32)
    return found


VALUES = values_of_8bit()


def encoded_8bit(values: np.ndarray, kind: dtype) -> np.ndarray:
    """To the nearest value, of two equally near ones to the even one; what is too large becomes NaN or infinity."""
    positive = VALUES[kind][:128]
    top = int(np.flatnonzero(np.isfinite(positive))[-1])
    grid, size = positive[: top + 1].astype(np.float64), np.abs(np.asarray(values, np.float64))
    above = np.clip(np.searchsorted(grid, size), 1, top)
    to_lower, to_upper = size - grid[above - 1], grid[above] - size
    bits = np.where((to_lower > to_upper) | ((to_lower == to_upper) & (above % 2 == 0)), above, above - 1)
    half_a_step = (grid[top] - grid[top - 1]) / 2
    bits = np.where((size > grid[top] + half_a_step) | ~np.isfinite(size), 127 if kind is float8_e4m3fn else 124, bits)
    bits = np.where(np.isnan(size), 127, bits)
    return (bits | (np.signbit(values) << 7)).astype(np.uint8)


def encoded_bfloat16(values: np.ndarray) -> np.ndarray:
    floats = np.atleast_1d(values.astype(np.float32))
    bits = floats.view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(floats), np.uint16(0x7FC0), rounded).reshape(values.shape)


def encoded(values: Any, kind: dtype) -> np.ndarray:
    """NumPy values in the bits that a dtype stores."""
    values = np.asarray(values)
    if kind is bfloat16:
        return encoded_bfloat16(values)
    if kind in VALUES:
        return encoded_8bit(values.astype(np.float32), kind)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(kind.stored, copy=False)


def decoded(bits: np.ndarray, kind: dtype) -> np.ndarray:
    """The values of stored bits."""
    if kind is bfloat16:
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return VALUES[kind][bits] if kind in VALUES else bits


# Which dtype comes out


def promoted(a: dtype | None, b: dtype | None) -> dtype | None:
    if a is None or b is None or a is b:
        return a or b
    if a.kind != b.kind:
        return max(a, b, key=lambda each: each.kind)
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return float32 if a.kind == FLOAT else int16 if {a, b} == {int8, uint8} else a


def dtype_of_number(value: Any) -> dtype:
    if isinstance(value, bool | np.bool_):
        return boolean
    if isinstance(value, int | np.integer):
        return int64
    return complex64 if isinstance(value, complex) else default_dtype()
